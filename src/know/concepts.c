/* See concepts.h. Thread: any. */
#include "know/concepts.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "text/words.h"

/* One group a row, folded words between spaces. */
static const char *const groups[] = {
    (" hours hour open opens opened opening close closes closed closing time times timing timings"
     " schedule समय घंटे खुला खुले खुलता खुलते खुलने बंद टाइम samay khula khulta "),
    (" price prices priced cost costs fee fees charge charges rate rates tariff amount expensive"
     " cheap much कीमत दाम मूल्य शुल्क फीस पैसे रुपये kimat daam paise "),
    " address location located situated find directions place street पता स्थान जगह pata jagah ",
    " phone telephone number call contact reach mobile फोन नंबर संपर्क ",
    " email mail e-mail ईमेल ",
    (" refund refunds refunded return returns returned returning exchange reimbursement money-back"
     " वापस रिफंड वापसी "),
    " cancel cancels cancelled canceled cancellation cancelling रद्द कैंसल ",
    " deliver delivers delivered delivery ship ships shipped shipping shipment डिलीवरी ",
    " pay pays paying payment payments paid card cards cash credit debit upi भुगतान ",
    (" book booking bookings reserve reserved reservation reservations appointment appointments"
     " बुकिंग अपॉइंटमेंट आरक्षण "),
    " car cars park parking vehicle vehicles garage पार्किंग गाड़ी कार ",
    " dog dogs pet pets cat cats animal animals कुत्ता पालतू ",
    " child children kid kids baby babies बच्चा बच्चे ",
    " wifi wi-fi internet wireless वाईफाई ",
    " food meal meals eat eating restaurant breakfast lunch dinner menu खाना भोजन नाश्ता ",
    " room rooms stay accommodation कमरा कमरे ",
    " discount discounts offer offers deal deals coupon promotion sale छूट ऑफर ",
    " staff employee employees team people ",
    " weekend saturday sunday शनिवार रविवार ",
    " arrive arrival check-in checkin ",
    " leave departure check-out checkout ",
    " doctor doctors physician डॉक्टर ",
    " damaged broken defective faulty warranty guarantee वारंटी गारंटी ",
};
_Static_assert(ARRAY_LEN(groups) <= 8 * sizeof(unsigned long), "one bit a group");

static const char weak_words[] =
    " able ask bring come does get give go going got happen have help hello hi information into"
    " keep know look make mean need offer ok okay possible provide really say sell take talk thank"
    " thanks thing think try use very want way well work yes yeah still also ever one "
    " बताना बता सकते सकता सकती मिल मिलता मिलेगा चाहता चाहती जानकारी ";

static bool is_among(const char *words, const char *folded)
{
    char spaced[WORD_MAX_BYTES + 2];
    snprintf(spaced, sizeof(spaced), " %s ", folded);
    return strstr(words, spaced) != NULL;
}

unsigned long concepts_of(const char *folded)
{
    unsigned long found = 0;
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (is_among(groups[i], folded))
            found |= 1UL << i;
    return found;
}

bool concept_is_weak(const char *folded)
{
    return is_among(weak_words, folded);
}
