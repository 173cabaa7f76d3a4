// Words of the filler that are no slot values (those are in words.def). None of them is a word of
// an evidence sentence (code, checkpoint, variable, carries, part, digit), so filler is never
// evidence.
#pragma once

#include <string_view>

namespace gyre::accept::vocabulary {

using Words = std::string_view;

inline constexpr Words kNames[] = {
    "Anna",    "Boris",  "Carla", "David",  "Elsa",   "Frank",   "Greta",  "Hugo",   "Ida",
    "Jonas",   "Klara",  "Leo",   "Marta",  "Nils",   "Olga",    "Paul",   "Rosa",   "Simon",
    "Tilda",   "Ulrich", "Vera",  "Walter", "Xenia",  "Yusuf",   "Zora",   "Amir",   "Berta",
    "Cyril",   "Dora",   "Emil",  "Fatima", "Gustav", "Hanna",   "Igor",   "Julia",  "Kemal",
    "Lena",    "Mateo",  "Nora",  "Oskar",  "Priya",  "Quentin", "Renata", "Stefan", "Tamara",
    "Umberto", "Viktor", "Wanda", "Agnes",  "Bruno",  "Celine",  "Dmitri", "Edith",  "Felix"};

inline constexpr Words kIntransitive[] = {
    "waited",     "slept",      "laughed",     "sang",       "worked",        "rested",
    "complained", "argued",     "listened",    "arrived",    "departed",      "hesitated",
    "returned",   "vanished",   "smiled",      "stumbled",   "travelled",     "whispered",
    "wandered",   "apologised", "celebrated",  "stayed",     "ate",           "wept",
    "shouted",    "yawned",     "practised",   "gardened",   "recovered",     "rehearsed",
    "retired",    "protested",  "daydreamed",  "coughed",    "stood up",      "sat down",
    "read aloud", "got lost",   "fell asleep", "grew tired", "changed trains"};

inline constexpr Words kTransitive[] = {
    "bought",   "sold",     "repaired",   "painted",   "borrowed", "returned",     "found",
    "lost",     "cleaned",  "carried",    "described", "drew",     "examined",     "forgot",
    "guarded",  "hid",      "inherited",  "inspected", "kept",     "lent",         "measured",
    "moved",    "noticed",  "offered",    "ordered",   "packed",   "photographed", "praised",
    "polished", "received", "recognised", "replaced",  "restored", "sketched",     "stored",
    "stole",    "tested",   "traded",     "unpacked",  "valued",   "wanted",       "washed",
    "weighed",  "wrapped",  "admired",    "auctioned", "broke",    "built",        "collected"};

inline constexpr Words kPassive[] = {
    "moved",     "cleaned",   "painted",   "repaired",    "sold",       "returned",  "photographed",
    "weighed",   "measured",  "restored",  "forgotten",   "found",      "kept",      "stored",
    "shown",     "wrapped",   "packed",    "inspected",   "hidden",     "lent out",  "put away",
    "taken out", "sketched",  "dusted",    "auctioned",   "exhibited",  "left",      "noticed",
    "polished",  "varnished", "described", "insured",     "catalogued", "delivered", "mislaid",
    "examined",  "borrowed",  "sent back", "taken apart", "unpacked",   "traded",    "locked up"};

inline constexpr Words kAdverbs[] = {
    "quietly",   "slowly",         "often",       "rarely",      "again",          "twice",
    "carefully", "happily",        "reluctantly", "patiently",   "all day",        "for hours",
    "at once",   "in vain",        "with care",   "on time",     "too late",       "very early",
    "suddenly",  "politely",       "gladly",      "with a sigh", "without a word", "for a week",
    "on foot",   "alone",          "together",    "by mistake",  "in silence",     "as always",
    "once more", "with great joy", "nervously",   "cheerfully"};

inline constexpr Words kAdjectives[] = {
    "old",         "new",       "red",        "dry",       "wet",         "big",
    "odd",         "low",       "blue",       "grey",      "tall",        "wide",
    "dark",        "cold",      "warm",       "soft",      "dusty",       "empty",
    "green",       "heavy",     "narrow",     "quiet",     "round",       "small",
    "steep",       "sunny",     "broken",     "closed",    "bright",      "crooked",
    "distant",     "famous",    "frozen",     "gloomy",    "golden",      "hidden",
    "humble",      "little",    "lonely",     "modern",    "mighty",      "rusty",
    "shabby",      "silent",    "simple",     "stately",   "windy",       "wooden",
    "ancient",     "cheerful",  "crowded",    "curious",   "elegant",     "familiar",
    "flooded",     "foreign",   "haunted",    "jagged",    "pleasant",    "popular",
    "ruined",      "shallow",   "slippery",   "spacious",  "splendid",    "weathered",
    "abandoned",   "beautiful", "colourful",  "deserted",  "desolate",    "enormous",
    "fashionable", "forgotten", "fragrant",   "neglected", "peaceful",    "remarkable",
    "renovated",   "secluded",  "venerable",  "sheltered", "enchanted",   "impressive",
    "overgrown",   "respected", "unfinished", "well kept", "picturesque", "whitewashed",
    "dim",         "far",       "raw",        "shy",       "neat",        "pale",
    "bare"};

inline constexpr Words kNouns[] = {
    "apple",   "axe",    "bag",    "ball",   "bench",  "bowl",   "box",     "bread",  "bridge",
    "button",  "cage",   "cake",   "card",   "chain",  "cheese", "chest",   "cloak",  "comb",
    "compass", "crate",  "crown",  "desk",   "door",   "dress",  "engine",  "fan",    "feather",
    "fence",   "flag",   "fork",   "frame",  "garden", "gate",   "guitar",  "hinge",  "honey",
    "jacket",  "jar",    "jewel",  "key",    "lens",   "lid",    "lock",    "magnet", "medal",
    "mill",    "mug",    "net",    "oar",    "organ",  "parcel", "pencil",  "pipe",   "poster",
    "pump",    "puzzle", "quilt",  "ribbon", "ring",   "rug",    "scale",   "shelf",  "shirt",
    "shoe",    "sledge", "soap",   "stamp",  "stove",  "table",  "teapot",  "ticket", "toy",
    "tray",    "trunk",  "tunnel", "wallet", "watch",  "wheel",  "whistle", "window"};

inline constexpr Words kPlaces[] = {
    "sea",       "inn",        "attic",    "barn",      "bay",        "beach",   "bridge",
    "castle",    "cathedral",  "cave",     "cellar",    "chapel",     "church",  "cinema",
    "cliff",     "corridor",   "cottage",  "courtyard", "dam",        "dock",    "factory",
    "farm",      "ferry",      "field",    "forest",    "fountain",   "gallery", "garage",
    "garden",    "gate",       "hall",     "harbour",   "hill",       "hotel",   "house",
    "island",    "kitchen",    "lake",     "library",   "lighthouse", "market",  "meadow",
    "mill",      "monastery",  "mountain", "museum",    "orchard",    "palace",  "park",
    "path",      "port",       "pub",      "quarry",    "railway",    "river",   "road",
    "school",    "shop",       "shore",    "spring",    "square",     "stable",  "station",
    "street",    "studio",     "swamp",    "temple",    "theatre",    "tower",   "town hall",
    "tunnel",    "university", "valley",   "village",   "vineyard",   "wall",    "warehouse",
    "waterfall", "well",       "windmill"};

inline constexpr Words kPrepositions[] = {
    "by",    "at",          "near",     "behind",   "inside",       "outside", "beside",
    "under", "across from", "opposite", "close to", "not far from", "next to", "in front of"};

inline constexpr Words kTimes[] = {
    "at noon",     "at dawn",        "at dusk",        "last week",       "last spring",
    "one morning", "one evening",    "on Monday",      "on Tuesday",      "on Thursday",
    "on Saturday", "on Sunday",      "after lunch",    "before dinner",   "in winter",
    "in summer",   "that night",     "years ago",      "long ago",        "two days later",
    "soon after",  "after the rain", "before sunrise", "during the fair", "every autumn",
    "for once",    "a year later",   "at midnight"};

inline constexpr Words kNumbers[] = {"two",    "three", "four",    "five",   "six",    "seven",
                                     "eight",  "nine",  "ten",     "eleven", "twelve", "twenty",
                                     "thirty", "forty", "several", "many",   "a few",  "a dozen"};

inline constexpr Words kPlurals[] = {
    "apples",  "bags",     "balls",  "beans",   "birds",   "books",   "boxes",   "bricks",
    "cards",   "chests",   "cloaks", "combs",   "crates",  "doors",   "eggs",    "flags",
    "forks",   "horses",   "jars",   "jewels",  "keys",    "lemons",  "locks",   "medals",
    "melons",  "nets",     "oars",   "onions",  "parcels", "pears",   "pencils", "pipes",
    "posters", "potatoes", "pumps",  "quilts",  "ribbons", "rings",   "rugs",    "shirts",
    "shoes",   "stamps",   "stones", "stoves",  "tables",  "teapots", "tickets", "tiles",
    "toys",    "trunks",   "tulips", "turnips", "vines",   "wallets", "watches", "wheels"};

inline constexpr Words kJoiners[] = {", and ", ", but ",      ", while ",  ", because ",
                                     ", so ",  ", although ", ", before ", ", after "};

}  // namespace gyre::accept::vocabulary
