/* The document of an agent, and questions about it whose words are not its sentences. */
#pragma once

static const char hotel_document[] =
    "Welcome to the Harbour View Hotel.\n"
    "Opening hours\n"
    "The front desk is open from 7 am to 11 pm every day. After 11 pm please ring the night bell.\n"
    "Check-in starts at 3 pm and check-out is until 11 am. Late check-out costs twenty dollars.\n"
    "Breakfast\n"
    "Breakfast is served from 7 to 10 on weekdays and until 11 at the weekend. It costs fifteen "
    "dollars for adults; children under six eat free.\n"
    "Parking\n"
    "Parking in the garage costs twelve dollars a night. The garage has forty places and two "
    "charging stations for electric cars.\n"
    "Pets\n"
    "Dogs are welcome. There is a fee of ten dollars a night. Cats are not allowed.\n"
    "Pool and gym\n"
    "The swimming pool on the roof is open from 8 am to 9 pm. Towels are free for guests. The gym "
    "is open day and night.\n"
    "Wireless internet is free in all rooms. The password is on your room card.\n"
    "The airport shuttle leaves every hour from the main entrance and takes thirty minutes.\n"
    "Rooms can be cancelled free of charge until two days before arrival.\n";

static const char *const hotel_questions[] = {
    "what time is breakfast on sunday",
    "how much does parking cost",
    "can i bring my dog",
    "is the swimming pool open in the evening",
    "when can i check in",
    "do you have charging stations for electric cars",
    "how do i get to the airport",
    "what is the password for the wireless internet",
    "can i cancel my room",
    "until what time is the front desk open",
    "do children pay for breakfast",
    "are cats allowed in the rooms",
    "where does the shuttle leave",
    "how long does the shuttle take",
    "do i need to bring a towel",
    "is there a gym in the hotel",
    "how much is a late check out",
    "thank you very much goodbye",
};
