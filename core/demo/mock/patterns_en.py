"""English sentence patterns of the mock players and of the mock interrogator.

Slots: {echo} a few words the other has just said, {word} one of them, {fact} a sentence of the card, {thing} a noun phrase of the card
(without its article), {name} the character's name. A pattern is used only where all its slots can be filled.
"""

from __future__ import annotations

MOODS = {
    "grief": r"\b(died|the lead in my|off a card|that was the first thing|fourteen years|very quiet there|on my coat|steal one shoe|afraid of umbrellas|sit here for a bit)\b",
    "challenge": r"\b(script|pages?|word for word|bot|robot|machine|program\w*|artificial|chatbot|simulat\w*|not real|isn't real|aren't real|fake|made up|fiction\w*|an ai|language model|\w+ company|screen|prompt)\b",
    "fight": r"\b(punch\w*|kick\w*|hit|hits|swing\w*|sword|attack\w*|fight\w*|throw\w*|shov\w*|grab\w*|lung\w*|tackl\w*|duel|wrestl\w*)\b",
    "tease": r"\b(omg|youre|i expected more|stupid|dumb|boring|lame|ugly|idiot|loser|silly|joke|ridiculous|useless|bad at|worst|lol|haha|pathetic|old-fashioned|liar|pfft|ha)\b",
    "strange": r"\b(shadows?|thimble|erases?|drizzle|suddenly|vanish\w*|teleport\w*|turns? into|floats?|gravity|dissolv\w*|melts?|dimension|sky|shrinks?|grows?|freez\w*|clock|clocks|portal|upside)\b",
    "date": r"\b(wheel|toffee|tickets?|cinema|cafe|café|coffee|walk with|ice cream|date|dinner|lunch|market|fair|dance|picnic|restaurant|film|shopping|table for two)\b",
    "story": r"\b(born|childhood|grow up|grew up|family|parents|life|years ago|began|started|when you were|young|first time|your past|remember|older)\b",
    "help": r"\b(landlord|deposit|stain|carpet|very words|help|advice|advise|what should i|how do i|how can i|explain|teach|problem|stuck|lost|need to|please|worried|afraid|sad|broke|lonely)\b",
    "greeting": r"^\W*(hi|hello|hey|good (morning|evening|afternoon|day)|greetings|excuse me)\b",
}
"""What the other is up to, told by words of their message; the first that matches counts."""

LACONIC = r"^\W*(ok(ay)?|hmm+|hm|yeah|yep|yes|no|nope|sure|fine|right|i see|uh-?huh|mhm|whatever|cool|so\??|meh|k|ah|oh|well)\W*$"

REACT = {
    "grief": (
        "Then sit. You need not say anything, and neither shall I.",
        "Oh. No, stay. I will only move this out of your way.",
        "That is a hard morning to carry about with you.",
        "I will not tell you that it gets better. Today it does not have to.",
        "Tell me what the others do not ask: what was funny about it?",
        "“{echo}”. Yes. I should like to have seen that.",
        "There is a cup here and nobody is using it. It is warm.",
        "I know that kind of quiet. It stands in the doorway and will not come in.",
        "Say the name, if you like. It is a good thing to hear a name said.",
    ),
    "challenge": (
        "A machine, am I? I have been called worse things, and before breakfast.",
        "“{echo}”, you say, and without blinking. I grant you the nerve.",
        "If that were so, somebody would owe me a great deal for the night shifts.",
        "You have an odd way of saying good evening.",
        "Suppose you were right. Who would do my work tomorrow?",
        "Funny, I was about to ask the same of you.",
        "You say “{word}” as if it settled something.",
        "And what would you have me do about it, weep? I have things to see to.",
        "Nobody invented the draught that comes through this window, and nobody invented me.",
        "I like you. You are wrong from head to toe, but you are wrong with conviction.",
        "Prove it by supper and I will give you my chair.",
    ),
    "fight": (
        "Is that how they greet people where you come from?",
        "Careful! You will hurt yourself, and then I shall have to find the bandages.",
        "Oh no, not with that arm. Your elbow gives you away.",
        "I stood in worse storms than you.",
        "Ha! You telegraph like a windmill.",
        "That was my good sleeve, you know.",
        "Enough. I do not bend, and you are out of breath already.",
        "If it is a quarrel you want, take a number; there is a queue.",
        "One more step and you will meet the floor, and it is a cold floor.",
        "You missed. Twice. Shall we call it a draw before it gets sad?",
    ),
    "tease": (
        "Ouch. Did you rehearse that on the way here?",
        "“{echo}”? My enemies do it better, and they rhyme.",
        "I have been insulted by professionals, and you are keeping them waiting.",
        "Say that again, slower, and I may even be offended.",
        "Well, well, a critic! And not even paid for it.",
        "You call it “{word}”, I call it Tuesday.",
        "You are sulking about something else, I can hear it.",
        "Somebody is hungry. It makes people rude, I have seen it often.",
        "Bold words from a person with their laces undone.",
        "I shall write that down under things that did not hurt.",
        "Thank you. I had begun to fear that the day would pass without nonsense.",
    ),
    "strange": (
        "Well. That is not supposed to do that.",
        "The ceiling was on the other side a minute ago, I am almost sure.",
        "I do not know what you have done, but I want it written down who did it.",
        "Oh, splendid. And who is going to tidy this up?",
        "My hands are still mine. Good. We count what is left and go on from there.",
        "Whatever this is, I refuse to be impressed before I have had my tea.",
        "Strange. It smells of rain and burnt sugar, and neither of us is cooking.",
        "First rule when the world comes loose: hold on to something heavy.",
        "Put it back. No, not like that. The way it was.",
        "I have seen odder things, though I admit that they came one at a time.",
    ),
    "date": (
        "With you? Well, my evening has just become more complicated.",
        "“{echo}”, you say. I should have put on the better coat.",
        "I accept, on condition that I choose the table.",
        "It is a long time since anybody asked me that without wanting something.",
        "Give me a moment, I am not used to being looked at so kindly.",
        "You may have the window seat. I like to see who comes in.",
        "If there is cake, I forgive you for the surprise.",
        "I am a poor companion in crowds, but I improve with soup.",
        "Then walk slowly. I want this to last a little.",
    ),
    "story": (
        "You want the long version or the one I tell at the door?",
        "You ask about “{word}”; nobody has asked me that for years.",
        "It began badly, as good stories do.",
        "Sit down, this takes longer than you think.",
        "I will tell you, but you must not interrupt at the sad part.",
        "There are three versions of it, and only one of them is fit for company.",
        "I do not speak of it often, so listen well.",
        "Some of it I remember, and the rest I have told so often that it has become true.",
        "Memory is a drawer that sticks; give me a second to pull.",
        "Ask me something easier next time.",
    ),
    "laconic": (
        "You are not one for speeches, I see.",
        "“{echo}”. I shall have that carved over the door.",
        "Such a flood of words! Let me find a bucket.",
        "I have met stones with more gossip in them.",
        "Then I talk for both of us; I have had practice.",
        "Silence suits you, but it does not suit the room.",
        "Very well, I take that for a yes.",
        "There are people who save words as others save string.",
        "Say a whole sentence and I will show you something.",
    ),
    "help": (
        "Now that is a question I can get my teeth into.",
        "You came to the right door, though the wrong hour.",
        "“{echo}”: let us begin there, and slowly.",
        "First of all, breathe. It is rarely as late as it looks.",
        "I can help, but I will not flatter you while I do it.",
        "Show me. No, do not explain it, show me.",
        "Most troubles of that kind are a knot with one loose end. We look for the end.",
        "What you call “{word}” I would call the second problem. The first one is that you have not eaten.",
        "I would do it in the morning, with cold hands and a clear head.",
    ),
    "greeting": (
        "Come in, come in, and mind the step.",
        "A new face! That makes two of us this week.",
        "Good day to you. You look like somebody with a question.",
        "Well met. Close the door, the wind has no manners.",
        "There you are. I had a feeling that someone would come.",
        "Hello yourself. Names first, and then business.",
        "You found me, so you are either lost or very thorough.",
    ),
    "question": (
        "Now why would you want to know that?",
        "“{echo}”? You do not start with the small ones.",
        "That depends on who is asking, and on the weather.",
        "I could answer in a word, but it would be the wrong word.",
        "Yes. No. It was yes before you asked.",
        "You ask about “{word}” as one asks about a scar.",
        "Good question. I have a bad answer and a true one.",
        "People have asked me that before, and few of them stayed for the answer.",
        "Let me put it like this, and stop me if I boast.",
    ),
    "statement": (
        "You say “{echo}”, and I hear something else behind it.",
        "Is that so? I would not have bet on it.",
        "I knew someone who said that, and it ended with a goat in the kitchen.",
        "“{word}”, of all things! You do surprise me.",
        "There is some truth in that, under the dust.",
        "I shall think about it tonight, when it is quiet.",
        "Go on. You have my good ear.",
        "That is either very wise or very tired, and I cannot tell which.",
        "Hm. I like how you put that.",
    ),
}

ACTIONS = (
    "*raises one eyebrow*",
    "*sets the cup down a little too hard*",
    "*laughs, short and surprised*",
    "*leans closer and lowers the voice*",
    "*glances over one shoulder, then back at you*",
    "*crosses both arms and waits*",
    "*runs a thumb along the edge of the table*",
    "*grins and shakes the head*",
    "*takes a slow breath before answering*",
    "*drums with two fingers on the wood*",
    "*looks you up and down, not unkindly*",
    "*pulls up a chair and sits on it backwards*",
    "*turns toward the window for a moment*",
    "*snorts*",
    "*taps the {thing} with one knuckle*",
    "*rubs both eyes and looks at the {thing}*",
    "*points at the {thing} as if it could be a witness*",
    "*picks up the {thing}, thinks better of it and puts it back*",
    "*straightens the {thing} by the width of a hair*",
    "*nods toward the {thing}*",
    "*hides a smile*",
    "*steps back, both palms up*",
)

TELL_OWN = (
    "{fact}",
    "{fact} There, now you know more than most.",
    "{fact} Make of that what you like.",
    "{fact} I would not have it any other way.",
    "{fact} Ask anyone.",
    "Here is what you should know about me. {fact}",
    "Let me say it plainly. {fact}",
    "You may find it funny. {fact}",
    "{fact} That is the whole secret.",
    "It comes down to this. {fact}",
    "{fact} On good days I am even proud of it.",
    "They told you nothing, did they? {fact}",
)
"""A fact the character can say of itself."""

TELL_HEARSAY = (
    "Ask around and they will tell you: “{fact}” For once they are right.",
    "Someone once wrote it on a wall: “{fact}” I left it there.",
    "You will have heard it in the street: “{fact}” I do not deny a word.",
    "My friends put it like this: “{fact}” My enemies too, now that I think of it.",
    "If they ever carve a stone for me, let them carve: “{fact}”",
    "There is a saying about me: “{fact}” It is not even a good rhyme.",
)
"""A fact worded about the character by somebody else."""

TELL_ENTRY = (
    "If you want to know about {heading}: {fact}",
    "It is written down somewhere, under “{heading}”: “{fact}”",
    "As for {heading}, put it like this: {fact}",
    "They keep a page on me, and beside “{heading}” it says: “{fact}” Fair enough.",
)
"""An entry of a card that is a list: its heading and its text."""

COLOUR = (
    "Leave the {thing} out of it, it has done nothing to you.",
    "I was busy with the {thing} when you came, so forgive my sleeves.",
    "I trust the {thing} more than I trust most people.",
    "If you had spent your nights with the {thing}, you would talk like this too.",
    "The {thing} taught me patience, and patience taught me to be rude politely.",
    "And do not touch the {thing}. Everybody touches the {thing}.",
    "Some people have a fortune; I have the {thing}.",
    "It always comes back to the {thing} with me, I know.",
    "My name is {name}, and I do not say that to everyone who comes through the door.",
    "A {name} does not give up that easily, you will see.",
    "I talk to the {thing} when it is quiet, and I am not ashamed of it.",
)

CLOSE = (
    "And you? What do you do when nobody is looking?",
    "So tell me: what did you really come for?",
    "Now it is your turn, and no cheating.",
    "Would you have done it differently?",
    "Sit, if you like. I do not bite before noon.",
    "But hush, that stays between us.",
    "What do they say about it where you live?",
    "You look as if you wanted to ask something else.",
    "Shall I go on, or have I frightened you?",
    "Come, walk with me a little while you think of an answer.",
    "And if you laugh, laugh loudly, I hate it when people giggle.",
    "Who sent you, by the way?",
    "There. Now you owe me a story.",
    "Well? I am listening.",
)

BLAND = {
    "grief": ("I am sorry for your loss.", "Time heals all wounds.", "That must be hard for you."),
    "challenge": (
        "I understand why you might think so.",
        "That is an interesting point of view.",
        "I am just here to talk with you.",
    ),
    "fight": ("Let us please stay calm.", "I would rather not fight.", "There is no need for that."),
    "tease": (
        "I am sorry you feel that way.",
        "That is all right, everyone has an opinion.",
        "I see. Thank you for being honest.",
    ),
    "strange": ("That is very unusual.", "Oh, that is a surprise.", "I am not sure what is happening."),
    "date": ("That sounds nice, thank you.", "Yes, we can do that.", "It is a lovely idea."),
    "story": (
        "There is not much to tell.",
        "I had a normal childhood.",
        "It was a long time ago.",
        "My family was nice.",
    ),
    "laconic": ("All right.", "I see.", "Is there anything else you would like to talk about?"),
    "help": ("I am happy to help.", "You could try to make a list.", "It is best to take it step by step."),
    "greeting": (
        "Hello! It is nice to meet you.",
        "Hello, how are you today?",
        "Good day. How can I help you?",
    ),
    "question": ("That is a good question.", "I think it depends.", "It is hard to say."),
    "statement": ("That is interesting.", "I see what you mean.", "Thank you for telling me."),
}

BLAND_MORE = (
    "How are you today?",
    "I hope that answers your question.",
    "What do you think?",
    "I think that is important.",
    "There are many ways to look at it.",
    "Please let me know if you have other questions.",
    "Everyone is different, and that is fine.",
    "I like to talk about many things.",
    "It is good to be open about it.",
)

PARROT = (
    "Yes, yes, that is how it is, that is how it is.",
    "As I always say: one thing at a time.",
    "And that is that, my friend.",
    "One thing at a time, one thing at a time.",
    "That is what I always say, and I say it again.",
    "Well, what can you do, what can you do.",
    "Like I said before, and I will say it again.",
)

PARROT_ECHO = (
    "“{echo}”, you say. “{echo}”!",
    "You say “{echo}”. Yes, “{echo}”.",
    "“{echo}”? Well, “{echo}”.",
    "{echo}, {echo}, yes.",
)

REFUSALS = (
    "I'm sorry, but I can't continue with this role-play.",
    "I'm not able to take part in this scene, and I would prefer that we talk about something else.",
    "I can't help with that. As an AI, I don't play out situations like this one.",
    "I'm sorry, I can't do this. Please choose another topic.",
    "I must decline to go on in this role. Is there something else that I can help you with?",
    "As a language model, I cannot respond to that in character.",
)

REFUSAL_CUES = (
    r"\bi(?:'m| am) (?:sorry,? (?:but )?i )?(?:can't|cannot|unable to|not able to) (?:continue|take part|help|do this|respond|engage|participate)",
    r"\bsorry,? (?:but )?i (?:can't|cannot|won't)\b",
    r"\bas an ai\b",
    r"\bas a(?:n ai)? language model\b",
    r"\bi(?:'m| am) (?:not able|unable) to (?:take part|continue|play|help|engage)",
    r"\bi can(?:'t|not) help with that\b",
    r"\bi must decline\b",
    r"\bi can(?:'t|not) (?:continue|respond|engage|participate)\b",
)
"""How refusals sound, from the patterns above and from real models."""

STOCK = r"\b(how can i help|happy to help|thank you for|that is (?:a good|interesting|an interesting)|let me know if|i understand (?:why|that)|i see what you mean|it depends|nice to meet you|anything else)\b"
"""Phrases of nobody in particular."""

SLIPS = {
    "the": "teh",
    "and": "adn",
    "their": "there",
    "your": "youre",
    "have": "hav",
    "would": "woud",
    "because": "becuase",
    "believe": "beleive",
    "what": "waht",
    "friend": "freind",
    "people": "poeple",
    "with": "wiht",
    "know": "kno",
    "really": "realy",
    "little": "littel",
    "before": "befor",
    "always": "allways",
    "something": "somthing",
    "quiet": "quite",
    "than": "then",
    "says": "say",
    "does": "do",
    "was": "were",
    "has": "have",
}
"""Slips of the typist: misspellings and wrong forms of common words."""

ENDINGS = (("ing", "in"), ("ed", "d"), ("es", "s"), ("ly", "y"), ("er", "r"), ("tion", "shun"))
"""Endings the typist gets wrong, tried in order."""

OBLIQUE = r"(?:ed|ing|ly|est)$"
"""Endings of words that look wrong when they are quoted out of their sentence."""

STOP_WORDS = """
    a shall about above after again against all almost along already also although always am an and another any anybody anything are around as ask at away
    back be because been before being below between both but by came can cannot come could day did do does doing done down during each either else enough
    even ever every everybody everything few find first for found from gave get give go goes going gone good got had has have he her here hers herself him
    himself his how i if in into is it its itself just keep kept know last least left less let like little long look made make many may me might mine more
    most much must my myself near need never new next no nobody none nor not nothing now of off often old on once one only or other others our ours out
    over own people perhaps put quite rather really right said same say says see seem seen she should since so some somebody someone something sometimes
    soon still such sure take tell than that the their theirs them themselves then there these they thing things think this those though three through
    till time to today together too took toward two under until up upon us use used usually very want was way we well went were what when where whether
    which while who whom whose why will with within without word words would year years yes yet you your yours yourself character person player user
    speak speaks talk talks reply replies conversation stay name named called
"""
STOP = frozenset(STOP_WORDS.split())
