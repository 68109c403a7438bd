"""What a text of `voxshard explain` states, so that two forms of the text can be compared by their facts.

explain_facts is the one place that knows the form. When the form changes, teach it a second pattern of the same kind: both
binaries' texts are read by the same table. A line that no pattern reads is a fact of kind "unread", so nothing is passed over.
"""
import collections, re, typing

from same_outputs_compare import Difference, short


class Fact(typing.NamedTuple):
    kind: str           # node, output, gradient, effect; mesh, input, compute, pack, join, fill_margin, exchange; arena, buffer,
                        # pool, packed
    name: str = ""
    op: str = ""
    type: str = ""      # f32[1x16x16x16x4]
    inputs: tuple = ()  # names, not numbers: a graph in another order states the same
    blocks: str = ""    # a number, or replicated; "partial" where sums are joined later
    owned: str = ""     # of the core that holds most, with its number
    held: str = ""
    halo: str = ""      # widest margins, low and high
    copies: str = ""
    bytes: str = ""
    widest: str = ""    # bytes of the widest copy
    detail: frozenset = frozenset()  # attributes of a node: compared, and said apart


BOX = r"\[[^\]]*\]"
BOXES = rf"(, core (?P<core>\d+) owns (?P<owned>{BOX})(, no halo| holds (?P<held>{BOX}), halo (?P<halo>low \S+ high [\dx]+))(; .*)?)?"
TYPE = r"(?P<type>\w+\[[^\]]*\])"
FORMS = [  # in the order in which they are tried
    ("node", rf"%(?P<id>\d+) (?P<name>\S+) = (?P<op>\S+)(?P<inputs>( %\d+,?)*)(?P<detail>( image| labels| \w+_targets)?( \w+=\S+)*)( follows %\d+)? : {TYPE}"),
    ("output", r"output (?P<name>\S+) = (?P<inputs>%\d+)"),
    ("gradient", r"gradient (?P<name>\S+) = (?P<inputs>%\d+)"),
    ("effect", r"effect (?P<name>\S+) <- (?P<inputs>%\d+)"),
    ("backward", r"backward (?P<inputs>%\d+)"),
    ("mesh", r"mesh (?P<name>.*)"),
    ("input", rf"input +(?P<name>\S+) : {TYPE}(, (?P<blocks>replicated))?{BOXES}"),
    ("compute", rf"compute +(?P<name>\S+) = (?P<op>\S+)( by \S+)? : {TYPE}, (?P<blocks>(replicated|\d+)( blocks)?(, partial)?){BOXES}"),
    ("pack", r"pack +weights of (?P<name>\S+), (?P<bytes>\d+) bytes"),
    ("join", rf"join +(?P<name>\S+) : {TYPE}, (?P<bytes>\d+) bytes"),
    ("fill_margin", r"fill_margin +(?P<name>\S+), (?P<bytes>\d+) bytes"),
    ("exchange", r"exchange +(?P<name>\S+), (?P<copies>\d+) copies, (?P<bytes>\d+) bytes, the widest (?P<widest>\d+)"),
    ("arena", r"arena (?P<name>\d+): (?P<bytes>\d+) bytes, (?P<blocks>\d+) buffers"),
    ("buffer", rf" +\+(?P<owned>\d+) (?P<bytes>\d+) bytes, instructions (?P<halo>\d+\.\.\d+): (?P<name>.+) (?P<held>{BOX})"),
    ("packed", r"packed weights, each around its layer: (?P<bytes>\d+) bytes in all, the pool is (?P<widest>\d+) larger for them"),
    ("pool", r"process pool: (?P<bytes>\d+) bytes; parameters and states: (?P<held>\d+) bytes"),
]
FORMS = [(kind, re.compile(form)) for kind, form in FORMS]


def explain_facts(text):
    """The facts of a text of any stage, in its order."""
    facts, names = [], {}
    for line in filter(None, text.splitlines()):
        kind, found = next(((kind, m) for kind, form in FORMS if (m := form.fullmatch(line))), ("unread", None))
        if found is None:
            facts.append(Fact(kind, line))
            continue
        said = {key: value for key, value in found.groupdict().items() if value}
        if "id" in said:
            names[said.pop("id")] = said["name"]
        said["inputs"] = tuple(names.get(number, "%" + number) for number in re.findall(r"%(\d+)", said.get("inputs", "")))
        said["detail"] = frozenset(said.get("detail", "").split())
        if core := said.pop("core", None):
            said.setdefault("held", said["owned"])  # without a halo a core holds what it owns
            said["owned"] = f"core {core} {said['owned']}"
        facts.append(Fact(kind, **said))
    return facts


def compare_explain(old, new):
    """Differences between the facts of two texts: by kind of fact, then their attributes, then their order."""
    old, new = (explain_facts(data.decode()) for data in (old, new))
    plain_old, plain_new = ([fact._replace(detail=frozenset()) for fact in facts] for facts in (old, new))
    counted = collections.Counter(plain_old), collections.Counter(plain_new)
    only_old, only_new = counted[0] - counted[1], counted[1] - counted[0]
    differences = []
    for kind in dict.fromkeys(fact.kind for fact in [*only_old, *only_new]):
        sides = [[fact_text(fact) for fact in only.elements() if fact.kind == kind] for only in (only_old, only_new)]
        differences.append(Difference("fact", kind, *(short((side or ["(none)"])[0], 300) for side in sides), max(map(len, sides))))
    if not differences and plain_old != plain_new:
        a, b = next((a, b) for a, b in zip(plain_old, plain_new) if a != b)
        differences.append(Difference("fact", "order", fact_text(a), fact_text(b)))
    if not differences and old != new:
        pairs = [(a, b) for a, b in zip(old, new) if a != b]
        differences.append(Difference("fact", "attributes", *map(fact_text, pairs[0]), len(pairs)))
    return differences


def fact_text(fact):
    said = [f"{key} {' '.join(sorted(value)) if isinstance(value, frozenset) else ', '.join(value) if key == 'inputs' else value}"
            for key, value in fact._asdict().items() if value and key not in ("kind", "name")]
    return " ".join([fact.kind, fact.name, *said])
