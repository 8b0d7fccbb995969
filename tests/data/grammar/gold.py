"""Trees written by hand with what they must become; read by the tests of both realisers."""

from __future__ import annotations

from typing import Any

from glassformer.data.grammar.lexicon import Address, Noun, Phrasing, read_lexicon
from glassformer.data.grammar.tree import Clause, NounPhrase, Predicate, Sentence

WORDS = read_lexicon()
TIMES = {" ".join(time.ko): time for time in WORDS.times}


def noun(lemma: str) -> Noun:
    return WORDS.nouns[lemma]


def phrase(lemma: str, determiner: str = "", **more: Any) -> NounPhrase:
    return NounPhrase(noun(lemma), determiner, **more)


def adverb(kind: str, lemma: str) -> Phrasing:
    return WORDS.adverbs[kind][lemma]


def my(lemma: str) -> NounPhrase:
    return phrase(lemma, owner=noun("나"))


def address(ko: str) -> Address:
    return next(found for found in WORDS.addresses if found.ko == ko)


def verb(lemma: str, subject: NounPhrase | None, **more: Any) -> Clause:
    return Clause(Predicate("verb", WORDS.verbs[lemma]), subject, **more)


def adjective(lemma: str, subject: NounPhrase, **more: Any) -> Clause:
    return Clause(Predicate("adjective", adjective=WORDS.adjectives[lemma]), subject, **more)


def being(kind: str, subject: NounPhrase, **more: Any) -> Clause:
    return Clause(Predicate(kind), subject, **more)


def say(clause: Clause, mood: str = "statement", **more: Any) -> Sentence:
    return Sentence(clause, "gold", mood, **more)


ME, US, YOU, SHE, MINSU, JISU = (phrase(lemma) for lemma in ("나", "우리", "너", "그녀", "민수", "지수"))
GRANDMOTHER = my("할머니")
SCHOOL, HOME, SEOUL = noun("학교"), noun("집"), noun("서울")
BOOK, APPLE = phrase("책"), phrase("사과")

GOLD: list[tuple[Sentence, str, str]] = [
    (say(verb("가다", ME, goal=SCHOOL)), "나는 학교에 간다", "I go to school"),
    (say(verb("공부하다", ME, object=phrase("Transformer"))), "나는 Transformer를 공부한다", "I study Transformers"),
    (say(verb("공부하다", ME, object=phrase("Python"))), "나는 Python을 공부한다", "I study Python"),
    (say(verb("가다", GRANDMOTHER, goal=HOME)), "우리 할머니께서는 집에 가신다", "My grandmother goes home"),
    (
        say(verb("가다", MINSU, goal=SEOUL, vehicle=noun("지하철"), tense="past")),
        "민수는 지하철로 서울에 갔다",
        "Minsu went to Seoul by subway",
    ),
    (say(verb("이사하다", JISU, goal=SEOUL, tense="future")), "지수는 서울로 이사할 것이다", "Jisu will move to Seoul"),
    (
        say(verb("쓰다", JISU, object=phrase("편지"), tool=noun("연필"), modality="progressive")),
        "지수는 연필로 편지를 쓰고 있다",
        "Jisu is writing a letter with a pencil",
    ),
    (
        say(verb("먹다", GRANDMOTHER, object=APPLE, modality="progressive", negative=True)),
        "우리 할머니께서는 사과를 먹고 계시지 않는다",
        "My grandmother is not eating an apple",
    ),
    (
        say(verb("먹다", GRANDMOTHER, object=phrase("사과", number=adverb("number", "두")), tense="past")),
        "우리 할머니께서는 사과 두 개를 드셨다",
        "My grandmother ate two apples",
    ),
    (
        say(verb("마시다", ME, object=phrase("커피", number=adverb("number", "한")), modality="want")),
        "나는 커피 한 잔을 마시고 싶다",
        "I want to drink one cup of coffee",
    ),
    (
        say(verb("마시다", SHE, object=phrase("커피"), modality="want", negative=True)),
        "그녀는 커피를 마시고 싶어 하지 않는다",
        "She does not want to drink coffee",
    ),
    (
        say(verb("주다", MINSU, object=phrase("꽃"), recipient=GRANDMOTHER, tense="past")),
        "민수는 우리 할머니께 꽃을 드렸다",
        "Minsu gave a flower to my grandmother",
    ),
    (
        say(verb("주다", ME, object=BOOK, recipient=JISU, tense="past"), address=address("교수님")),
        "교수님, 저는 지수에게 책을 줬습니다",
        "Professor, I gave a book to Jisu",
    ),
    (
        say(verb("가다", GRANDMOTHER, goal=noun("병원"), tense="past"), address=address("김 선생님")),
        "김 선생님, 저희 할머니께서는 병원에 가셨어요",
        "Mr. Kim, my grandmother went to the hospital",
    ),
    (
        say(verb("가다", ME, goal=SCHOOL, negative=True), friend=noun("지훈")),
        "지훈아, 나는 학교에 안 가",
        "Jihun, I do not go to school",
    ),
    (
        say(verb("공부하다", phrase("수진"), negative=True, tense="past"), friend=noun("민수")),
        "민수야, 수진이는 공부하지 않았어",
        "Minsu, Sujin did not study",
    ),
    (say(verb("읽다", YOU, asked="object"), "question"), "너는 무엇을 읽니?", "What do you read?"),
    (
        say(verb("듣다", YOU, asked="object", tense="past"), "question"),
        "너는 무엇을 들었니?",
        "What did you listen to?",
    ),
    (
        say(verb("가다", SHE, goal=SCHOOL, asked="subject", tense="past"), "question"),
        "누가 학교에 갔니?",
        "Who went to school?",
    ),
    (
        say(verb("가다", MINSU, asked="goal", tense="future"), "question", address=address("여러분")),
        "여러분, 민수는 어디에 갈 것입니까?",
        "Everyone, where will Minsu go?",
    ),
    (
        say(verb("여행하다", MINSU, object=phrase("프랑스"), modality="experience"), "question"),
        "민수는 프랑스를 여행한 적이 있니?",
        "Has Minsu ever traveled around France?",
    ),
    (
        say(verb("가다", ME, goal=noun("제주도"), modality="experience", negative=True)),
        "나는 제주도에 간 적이 없다",
        "I have never been to Jeju Island",
    ),
    (say(verb("수영하다", MINSU, modality="know_how")), "민수는 수영할 줄 안다", "Minsu knows how to swim"),
    (
        say(verb("읽다", JISU, object=BOOK, modality="like_to")),
        "지수는 책을 읽는 것을 좋아한다",
        "Jisu likes reading books",
    ),
    (
        say(verb("가다", GRANDMOTHER, goal=HOME, modality="must")),
        "우리 할머니께서는 집에 가셔야 한다",
        "My grandmother must go home",
    ),
    (
        say(verb("가다", MINSU, goal=HOME, modality="must", tense="past")),
        "민수는 집에 가야 했다",
        "Minsu had to go home",
    ),
    (say(verb("자다", YOU, modality="must_not")), "너는 자면 안 된다", "You must not sleep"),
    (
        say(verb("열다", YOU, object=phrase("문")), "command", address=address("엄마")),
        "엄마, 문을 열어 주세요",
        "Mom, please open the door",
    ),
    (say(verb("가다", US, goal=HOME, negative=True), "suggestion"), "집에 가지 말자", "Let's not go home"),
    (
        say(adjective("재미있다", phrase("책", "this"), standard=phrase("책", "that"))),
        "이 책은 저 책보다 더 재미있다",
        "This book is more interesting than that book",
    ),
    (say(adjective("키가 크다", MINSU, standard=JISU)), "민수는 지수보다 키가 더 크다", "Minsu is taller than Jisu"),
    (
        say(adjective("정직하다", phrase("의사", "the"), superlative=True)),
        "그 의사가 가장 정직하다",
        "The doctor is the most honest",
    ),
    (
        say(being("noun", GRANDMOTHER, complement=phrase("의사"))),
        "우리 할머니께서는 의사이시다",
        "My grandmother is a doctor",
    ),
    (
        say(being("noun", JISU, complement=phrase("배우"), tense="past"), address=address("아빠")),
        "아빠, 지수는 배우였어요",
        "Dad, Jisu was an actor",
    ),
    (
        say(being("noun", ME, complement=phrase("학생"), negative=True), friend=noun("민수")),
        "민수야, 나는 학생이 아니야",
        "Minsu, I am not a student",
    ),
    (
        say(being("be_at", GRANDMOTHER, stay=HOME, negative=True)),
        "우리 할머니께서는 집에 안 계신다",
        "My grandmother is not at home",
    ),
    (
        say(
            being(
                "there_is",
                phrase("책", number=adverb("number", "세")),
                landmark=phrase("책상"),
                position=adverb("position", "위"),
            )
        ),
        "책상 위에 책 세 권이 있다",
        "There are three books on the desk",
    ),
    (
        say(being("there_is", APPLE, place=noun("시장"), negative=True, tense="past")),
        "시장에 사과가 없었다",
        "There were no apples at the market",
    ),
    (
        say(being("have", GRANDMOTHER, object=phrase("고양이"))),
        "우리 할머니께서는 고양이가 있으시다",
        "My grandmother has a cat",
    ),
    (say(being("age", MINSU, number=adverb("age", "스무"))), "민수는 스무 살이다", "Minsu is twenty years old"),
    (
        say(
            verb(
                "읽다",
                phrase("아이", "one"),
                object=BOOK,
                place=noun("도서관"),
                tense="past",
                time=TIMES["어제"],
                front=True,
            )
        ),
        "어제 한 아이가 도서관에서 책을 읽었다",
        "Yesterday a child read a book in the library",
    ),
    (
        say(verb("자다", phrase("새", number=adverb("number", "다섯")), time=TIMES["일곱 시에"])),
        "새 다섯 마리가 일곱 시에 잔다",
        "Five birds sleep at seven o'clock",
    ),
    (
        say(
            adjective(
                "재미있다",
                phrase("책", relative=verb("사다", ME, object=BOOK, tense="past", time=TIMES["어제"], gap="object")),
            )
        ),
        "내가 어제 산 책은 재미있다",
        "The book that I bought yesterday is interesting",
    ),
    (
        say(
            verb("마시다", ME, object=phrase("물"), tense="past"),
            joint="because",
            second=adjective("목마르다", ME, tense="past", gap="subject"),
        ),
        "나는 목말라서 물을 마셨다",
        "I drank water because I was thirsty",
    ),
    (
        say(verb("쉬다", MINSU, place=HOME, tense="future"), joint="if", second=verb("비가 오다", None)),
        "비가 오면 민수는 집에서 쉴 것이다",
        "Minsu will rest at home if it rains",
    ),
    (
        say(
            verb("먹다", MINSU, object=phrase("밥"), tense="future"),
            joint="and",
            second=verb("쉬다", MINSU, tense="future", gap="subject"),
        ),
        "민수는 밥을 먹고 쉴 것이다",
        "Minsu will eat rice and rest",
    ),
    (
        say(verb("생각하다", ME), joint="that", second=adjective("친절하다", JISU)),
        "나는 지수가 친절하다고 생각한다",
        "I think that Jisu is kind",
    ),
    (
        say(
            verb("가다", ME, goal=noun("도서관"), purpose=verb("읽다", ME, object=BOOK, tense="future", gap="subject"))
        ),
        "나는 책을 읽으러 도서관에 간다",
        "I go to the library to read a book",
    ),
]
