"""The English word classes that the grammar of moods is written in: conjunctions, modals, hedges, verbs.

Closed classes are listed whole. Open classes (verbs) are listed where their form is ambiguous (``fix`` is a noun and an
imperative) and recognised by ending where it is not (``-ed``, ``-ing``).
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


INTERJECTIONS = _set(
    "now ok okay so then well yes yep yeah yup no nope great good perfect excellent right alright awesome cool nice "
    "also and but or actually finally first firstly second secondly third next again however therefore thus hence hmm "
    "ah oh sure thanks additionally furthermore moreover unfortunately fortunately indeed interesting interestingly "
    "still currently importantly essentially basically similarly likewise meanwhile otherwise lastly overall instead "
    "interesting wait hey hi hello sorry absolutely exactly correct yay sweet lovely fine agreed understood"
)
"""Openers that say nothing of the mood and are stepped over."""
SEQUENCERS = _set("now next first firstly second then finally lastly")
"""Openers that make an agent's imperative ("Now fix the comment:") a plan."""

PRONOUNS = _set(
    "i we you he she it they there this that these those everything everyone nothing someone anyone something"
)
SPEAKER = _set("i we")
DETERMINERS = _set(
    "the a an this that these those my our your his her its their any all some each every both no either neither"
)
CLAUSE_STARTERS = PRONOUNS | DETERMINERS

BE = _set("is are was were be been being am 's 're 'm isn't")
HAVE = _set("has have had 've having")
DO = _set("do does did")
AUXILIARIES = _set("is are was were am do does did has have had can could will would should shall may might must")
PAST_AUXILIARIES = _set("was were did had")
MODALS_OF_WILL = _set("will 'll shall gonna")
MODALS_OF_HEDGE = _set("should would might may could ought")
NOT = _set("not n't never")
NEGATIVE_DETERMINERS = _set("no neither nor none nothing nobody nowhere zero")

CONDITIONAL_OPENERS = _set("if unless once whenever assuming provided supposing when until till wherever")
"""First words of a clause that makes the main clause conditional on something not said to have happened."""
SUBORDINATORS = _set(
    "because since while although though whereas as given after before with without for in on at by from during based "
    "despite regarding per via under through besides like unlike among within considering due thanks rather apart "
    "aside across over to into until till"
)
"""First words of a leading adjunct: the main clause begins after its comma."""
COORDINATORS = _set(
    "and but or so yet while whereas which because since although though then who where plus nor whose for as"
)
"""After a comma, these begin another clause; the first one decides."""
COMPLEMENT_STARTERS = _set(
    "that which who because so since where while although though whereas and but or as like whose what how why"
)
"""After a finite verb, what follows these is no longer the main predicate."""
ASKING = _set(
    "check checks checking checked see sees seeing know knows known knowing verify verifies verifying verified ask "
    "asks asking asked determine determines determining determined decide decides deciding decided wonder wonders "
    "wondering wondered sure clear unclear confirm confirms confirming confirmed test tests testing tested tell tells "
    "telling told find out investigate investigating investigated understand understanding inspect unknown uncertain "
    "question figure detect detects detecting detected validate validates validating validated discuss evaluate assess "
    "explore examine look looking"
)
"""Verbs and adjectives whose ``if`` or ``whether`` opens an embedded question."""

HEDGE_ADVERBS = _set(
    "maybe perhaps probably presumably possibly likely hopefully apparently seemingly supposedly allegedly ideally "
    "conceivably potentially arguably theoretically tentatively evidently"
)
HEDGED_OPENERS = (
    ("as", "far", "as"),
    ("to", "my", "knowledge"),
    ("to", "the", "best", "of", "my", "knowledge"),
    ("in", "theory"),
    ("in", "principle"),
    ("chances", "are"),
    ("no", "idea"),
    ("not", "sure"),
)
POSSIBILITY = _set("possible probable plausible conceivable imaginable doubtful")
HEDGE_VERBS = _set(
    "think believe guess suspect assume assuming expect hope suppose imagine doubt feel reckon presume hypothesize "
    "speculate thinking guessing suspecting expecting hoping"
)
"""With a speaker as subject."""
SEEMING = _set("seems seem seemed appears appear appeared looks look looked sounds sound feels")
READINESS = _set(
    "ready supposed expected likely unlikely meant due scheduled going about set bound slated poised planned intended "
    "yet"
)
"""After *be*: not yet so."""
SUGGESTING = _set("suggests suggest suggested implies imply indicates hints")
CONATIVE = _set("want wants wanted plan plans planning intend intends aim aims hoping trying try tries attempting wish")

SAYING = _set(
    "says said say reports reported report claims claimed claim states stated mentions mentioned mention tells told "
    "announced announces wrote writes argues argued insists insisted complained alleges alleged asserts asserted "
    "concluded concludes noted notes explained explains replied answered responded quoted thinks believes"
)
SPEAKERS_OF_REPORTS = _set(
    "agent agents sub-agent subagent sub-agents subagents reviewer reviewers user users bot bugbot copilot claude "
    "codex gemini ci team colleague docs documentation readme he she they you it who report summary issue ticket "
    "author maintainer maintainers comment comments review coworker teammate teammates customer customers support "
    "developer developers qa pipeline job article post blog spec changelog transcript plan message log teammate's "
    "model assistant worker workers someone people"
)
REPORT_OPENERS = (
    ("according", "to"),
    ("reported", "by"),
    ("reportedly",),
    ("per", "the"),
    ("as", "reported"),
    ("as", "stated"),
)

GERUND_NOUNS = _set(
    "nothing something anything everything testing string thing king ring spring being during missing existing "
    "remaining following warning ping building logging setting meaning timing listing mapping encoding heading morning "
    "evening ceiling billing staging pricing finding branding landing binding padding interesting pending working "
    "failing passing incoming outgoing underlying according including excluding regarding corresponding matching wing "
    "sling sibling sing bring outstanding linting strings things warnings"
)
"""Words in ``-ing`` that do not open a statement of what the speaker is doing."""

BASE_VERBS = _set(
    "add adjust allow analyze apply approve ask assert assign avoid be bump build call cancel change check choose "
    "clean clear click clone close collect commit compare compile complete configure confirm connect consider "
    "consolidate continue convert copy correct cover create cut debug decide define delete deploy describe detect "
    "determine disable discard do document don't double-check download drop edit enable ensure establish evaluate "
    "examine execute expand explain explore export expose extend extract fail feel fetch figure fill find finish fix "
    "follow force format generate get give go grep group handle hide highlight identify ignore implement import "
    "improve include increase initialize inline insert inspect install integrate invoke investigate isolate keep kill "
    "launch leave let limit link list load locate log look maintain make mark measure merge migrate mock modify "
    "monitor move name note notify open optimize organize output override parse pass paste patch pick pin place plan "
    "point prefer prepare preserve press prevent print prioritize proceed produce propagate propose protect provide "
    "publish pull push put query raise re-run read rebase rebuild record redirect reduce refactor refer reference "
    "refresh register reload remember remove rename replace reply report reproduce request require rerun reset resolve "
    "respect respond restart restore restructure retry return reuse revert review revise rewrite rollback roll rotate "
    "run save scan schedule scroll search see select send separate set setup share ship show simplify skip sort "
    "specify split squash stage standardize start stash stick stop store strip submit suggest summarize support "
    "suppose swap switch sync tag take tell test think throw touch trace track transform translate trigger trim try "
    "tweak turn type undo unify uninstall update upgrade upload use validate verify view visit wait warn watch wire "
    "wrap write answer assume begin bring catch come draft focus grab hold help learn mention need pause pay perform "
    "please quote recall reconsider reject release remind repeat reorganize rely revisit rework satisfy stay surface "
    "treat understand unstage walk always never just simply"
)
"""Base forms that open an imperative where no finite verb follows them."""

NOUN_VERBS = _set(
    "build call cancel change check click clone commit compare copy cover cut debug delete design deploy display "
    "download drop edit export fail fetch fix force format group handle hide highlight import increase index insert "
    "install launch limit link list load lock log look mark match measure merge mock move name note open output "
    "override pass paste patch pick pin place plan point press print process produce progress publish pull push query "
    "read rebase record refactor reference refresh release reload report request reset respond rest restart restore "
    "return reuse review rewrite rollback roll run save scan schedule search select set setup share ship show skip "
    "sort split squash stage start stash stop store strip submit swap switch sync tag take tag test touch trace track "
    "transfer trigger try turn type update upgrade upload use view visit wait walk watch wire wrap grab hold help need "
    "pause pay plan release surface treat answer draft focus clean complete open correct clear separate lint "
    "double-check"
)
"""Base forms that are nouns or adjectives as well, so that what follows must tell."""

NOUN_COMPLETIONS = _set(
    "is are was were has have had will would should may might can could must did does do isn't looks seems appears "
    "works worked passes passed pass fails failed fail succeeds succeeded completes completed complete done finished "
    "ok okay green red clean successful successfully verified merged pushed published deployed installed applied "
    "created confirmed running started ready now takes took exits exited still 's 'll needs compiles compiled broke "
    "breaks already went goes shows showed returns returned prints printed works returned exists remained remains "
    "became ended stopped broken: : — pending passing failing clear unchanged resolved closed opened tagged released "
    "updated reverted cancelled canceled"
)
"""What, directly after a base form, shows that it was a noun ("Build succeeded", "Lint is clean", "Push done")."""

FINITE = _set(
    "is are was were 's 're 'm has have had 've do does did pass passes passed fail fails failed work works build "
    "builds built compile compiles succeed succeeds exist exists run runs ran return returns use uses contain contains "
    "match matches remain remains mean means meant make makes made get gets got go goes went come comes came take "
    "takes took need needs keep keeps kept say says said show shows showed found find finds found know see sees saw "
    "think thought gave give gives put set sets wrote written write writes read reads sent send sends left lost broke "
    "broken hit ran did done complete completed clean green committed merged pushed handles handle calls call checks "
    "creates complains complain expects throws prints produces provides requires lives sits starts stops begins ends "
    "ended happens causes breaks becomes became stays lets"
)
"""Forms that, once met, make a clause complete enough to end at the next conjunction."""
IRREGULAR_PAST = _set(
    "ran wrote made found built got gave took put set sent left lost broke hit did went came saw kept read cut split "
    "reset rebuilt rewrote undid redid overwrote withdrew began brought caught chose drew fell forgot held knew led "
    "met paid rose shut spent stuck became felt stood threw flew spoke stole tore froze drove rode bit bent bought "
    "sought fought dealt dug hung heard hid hurt laid lent lit sank shook shot slid sprang struck swung wound told "
    "thought understood won done gone begun written broken taken given shown seen known sped"
)
NOT_PAST = _set(
    "need needed feed seed speed exceed proceed succeed indeed embed bed red shed led fed used-by unused based related "
    "sub-bed weed nested shared named typed unrelated mixed expected supposed limited embedded detailed required "
    "unauthorized hundred sacred naked wicked rugged advanced so-called aforementioned"
)
"""Words in ``-ed`` that are not, by themselves, a past verb."""
