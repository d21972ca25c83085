/* The languages of the contract, with a sentence to try a voice and a line to bridge a wait. */
#include "model/language.h"

#include <string.h>

#include "base/attr.h"

const struct language language_table[] = {
    {"en", "English", "en", "Latn", "Hello, how can I help you today?",
     "One moment, let me check."},
    {"hi", "Hindi", "hi", "Deva", "नमस्ते, मैं आपकी क्या मदद कर सकती हूँ?", "एक पल, मैं देखती हूँ।"},
    {"hinglish", "Hinglish", "hi", "Deva", "Hello जी, मैं आपकी क्या help कर सकती हूँ?",
     "एक minute, मैं check करती हूँ।"},
    {"ta", "Tamil", "ta", "Taml", "வணக்கம், நான் உங்களுக்கு எப்படி உதவலாம்?", "ஒரு நிமிடம், பார்க்கிறேன்."},
    {"te", "Telugu", "te", "Telu", "నమస్కారం, నేను మీకు ఎలా సహాయపడగలను?", "ఒక్క నిమిషం, చూస్తాను."},
    {"kn", "Kannada", "kn", "Knda", "ನಮಸ್ಕಾರ, ನಾನು ನಿಮಗೆ ಹೇಗೆ ಸಹಾಯ ಮಾಡಲಿ?", "ಒಂದು ನಿಮಿಷ, ನೋಡುತ್ತೇನೆ."},
    {"ml", "Malayalam", "ml", "Mlym", "നമസ്കാരം, ഞാൻ എങ്ങനെ സഹായിക്കണം?", "ഒരു നിമിഷം, ഞാൻ നോക്കട്ടെ."},
    {"mr", "Marathi", "mr", "Deva", "नमस्कार, मी तुमची कशी मदत करू?", "एक क्षण, मी पाहते."},
    {"gu", "Gujarati", "gu", "Gujr", "નમસ્તે, હું તમારી શું મદદ કરી શકું?", "એક ક્ષણ, હું જોઉં છું."},
    {"bn", "Bengali", "bn", "Beng", "নমস্কার, আমি আপনাকে কীভাবে সাহায্য করতে পারি?",
     "এক মুহূর্ত, আমি দেখছি।"},
    {"pa", "Punjabi", "pa", "Guru", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਮੈਂ ਤੁਹਾਡੀ ਕੀ ਮਦਦ ਕਰ ਸਕਦੀ ਹਾਂ?", "ਇੱਕ ਪਲ, ਮੈਂ ਦੇਖਦੀ ਹਾਂ।"},
    {"or", "Odia", "or", "Orya", "ନମସ୍କାର, ମୁଁ ଆପଣଙ୍କୁ କିପରି ସାହାଯ୍ୟ କରିପାରେ?", "ଗୋଟିଏ ମୁହୂର୍ତ୍ତ, ମୁଁ ଦେଖୁଛି।"},
    {"es", "Spanish", "es", "Latn", "Hola, ¿en qué puedo ayudarle?", "Un momento, lo compruebo."},
    {"fr", "French", "fr", "Latn", "Bonjour, comment puis-je vous aider ?",
     "Un instant, je vérifie."},
    {"de", "German", "de", "Latn", "Guten Tag, wie kann ich Ihnen helfen?",
     "Einen Moment, ich sehe nach."},
    {"it", "Italian", "it", "Latn", "Buongiorno, come posso aiutarla?", "Un momento, controllo."},
    {"pt", "Portuguese", "pt", "Latn", "Olá, como posso ajudar?", "Um momento, vou verificar."},
    {"nl", "Dutch", "nl", "Latn", "Goedendag, hoe kan ik u helpen?", "Een moment, ik kijk het na."},
    {"pl", "Polish", "pl", "Latn", "Dzień dobry, w czym mogę pomóc?", "Chwileczkę, już sprawdzam."},
    {"ru", "Russian", "ru", "Cyrl", "Здравствуйте, чем я могу вам помочь?",
     "Одну минуту, я проверю."},
    {"ja", "Japanese", "ja", "Jpan", "こんにちは、どのようなご用件でしょうか。",
     "少々お待ちください、確認します。"},
    {"ko", "Korean", "ko", "Kore", "안녕하세요, 무엇을 도와드릴까요?",
     "잠시만요, 확인해 보겠습니다."},
    {"zh", "Chinese", "zh", "Hans", "您好，请问有什么可以帮您？", "请稍等，我查一下。"},
    {"ar", "Arabic", "ar", "Arab", "مرحبا، كيف يمكنني مساعدتك؟", "لحظة من فضلك، سأتحقق."},
    {"tr", "Turkish", "tr", "Latn", "Merhaba, size nasıl yardımcı olabilirim?",
     "Bir dakika, kontrol ediyorum."},
    {"id", "Indonesian", "id", "Latn", "Halo, ada yang bisa saya bantu?",
     "Sebentar, saya periksa dulu."},
};
const size_t language_count = ARRAY_LEN(language_table);

const struct language *language_by_id(const char *id)
{
    for (size_t i = 0; i < language_count; i++)
        if (strcmp(language_table[i].id, id) == 0)
            return &language_table[i];
    return NULL;
}

const struct language *language_by_iso(const char *iso)
{
    for (size_t i = 0; i < language_count; i++)
        if (strcmp(language_table[i].iso, iso) == 0)
            return &language_table[i];
    return NULL;
}
