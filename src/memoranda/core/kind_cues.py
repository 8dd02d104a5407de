"""Words that tell what kind of memory a text is, in English and Chinese: what binds it to one place, what generalizes.

A table for :mod:`.kind_rules`. English cues are whole words whatever their case;
``exact`` ones are regular expressions as they stand.
"""

from __future__ import annotations

from memoranda.core.kinds import UNKNOWN
from memoranda.core.records import dataclass

__all__ = ["CUES", "WELL_KNOWN", "Cue"]


@dataclass(frozen=True, slots=True)
class Cue:
    """What speaks for a kind, how much, and how it is named to a person; English, Chinese and exact alternatives."""

    kind: str
    weight: float
    named: str
    english: str = ""
    chinese: str = ""
    exact: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """One regular expression of all."""
        either = [rf"(?i:\b(?:{self.english})\b)"] if self.english else []
        return "|".join((*either, *filter(None, [self.chinese]), *self.exact))


_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_THINGS = (
    "table|service|module|page|screen|endpoint|queue|bucket|repo|repository|cluster|pipeline|job|branch|server|"
    "database|schema|token|migration|ticket|importer|exporter|worker|release|build|sprint|backlog|dashboard|app|api|"
    "bot|team|customer|client|contract|vendor|prototype|demo|launch|deadline|milestone|spec|widget|button|form"
)
_OURS = (
    "project|repo|repository|codebase|product|service|app|api|team|database|cluster|customers?|users?|schema|"
    "pipeline|backend|frontend|site|shop|monorepo|stack|release|launch"
)
_DECIDED = (
    "Picked|Chose|Chosen|Moved|Dropped|Switched|Renamed|Kept|Went with|Postponed|Skipped|Reverted|Rolled back|Agreed|"
    "Decided|Settled|Parked|Deferred|Swapped|Replaced|Cut|Paused|Bumped|Disabled|Enabled|Merged|Closed|Shipped"
)
#: What advice begins with.
_ADVICE = (
    "write|run|read|check|use|keep|name|test|review|start|ask|measure|log|pin|split|validate|treat|make|put|add|fail|"
    "design|document|commit|store|return|pass|set|show|explain|give|quote|leave|prove|reproduce|assume|expect|trust|"
    "verify|think|stop|save|build|separate|handle|bound|cap|wrap|retry|delete|batch|copy|push|send|say|answer|plan|"
    "sketch|summarize|model|encode|escape|parse|hash|lock|cache|compare|count|draw|estimate|fix|isolate|limit|prefer|"
    "favou?r|resist|budget|version|normalize|watch|record|restart|timebox|take|let|turn|quarantine|convert|look|begin|"
    "finish|remove|spend|skip|rename|merge|rebase|squash|profile|benchmark|pair|automate|alert|roll|fake|mock|stub|"
    "freeze|seed|sort|round|sanitize|rotate|avoid|never|always"
)
_UNITS = (
    r"ms|s|min|minutes?|hours?|days?|weeks?|%|GB|MB|KB|k|rows|users|items|requests|"
    r"人|天|小时|分钟|秒|毫秒|条|个|元|次|行|位|周"
)
_PARTS = "表|接口|字段|队列|分支|模块|页面|服务|集群|目录|仓库|桶|配置项|网关|脚本|镜像|账号|库"
_WHOLES = "项目|仓库|系统|产品|服务|后台|前端|团队|库|站|商城|平台|应用"

_WELL_KNOWN = """
i api apis http https sql json xml yaml csv html css url urls uri cpu gpu ram ssd io ui ux ci cd pr prs id ids
uuid  utc iso ascii utf unicode rest grpc graphql tcp udp dns tls ssl ssh jwt oauth orm sdk cli ide os db pdf
regex tdd  dry yagni kiss acid crud cap llm ai ml nlp rag python java javascript typescript go golang rust
kotlin swift ruby  php perl scala haskell elixir bash zsh c sqlite postgres postgresql mysql mariadb redis mongo
mongodb kafka  rabbitmq elasticsearch docker kubernetes k8s helm terraform ansible nginx linux unix windows mac
macos ios android  git github gitlab jira slack aws gcp azure s3 react vue angular svelte django flask fastapi
rails spring node npm  pip pytest mypy ruff eslint webpack vite tailwind excel markdown english chinese german
french japanese ok  conway murphy knuth posix celery pandas numpy spark airflow grafana prometheus sentry
datadog openai
"""

CUES = (
    # What binds a text to one project.
    Cue(
        "project_detail",
        2.0,
        "an address on the net",
        exact=(r"https?://", r"\b[\w-]{1,63}\.(?:internal|local|lan|corp)\b"),
    ),
    Cue(
        "project_detail",
        2.0,
        "a port or an address",
        r"port \d+",
        "端口",
        (r":\d{4,5}\b", r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
    ),
    Cue(
        "project_detail",
        2.0,
        "a file or a folder",
        exact=(
            r"(?<![\w.-])[\w.-]*/[\w.-]+/[\w./-]*",
            r"(?<![\w./-])[\w./-]+\.(?:py|tsx?|js|go|rs|java|kt|sql|ya?ml|toml|json|md|sh|css|html|env|ini|proto|csv)\b",
        ),
    ),
    Cue("project_detail", 2.0, "a ticket", exact=(r"\b[A-Z]{2,10}-\d+\b", r"(?<!\w)#\d{2,}\b", r"\bPR ?\d+")),
    Cue("project_detail", 2.0, "a setting's name", exact=(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",)),
    Cue(
        "project_detail",
        1.0,
        "an identifier",
        exact=(r"\b[a-z]+_[a-z0-9_]+\b", r"\b[a-z]+[A-Z]\w+", r"\b[A-Z][a-z]+[A-Z][a-z]\w*", r"`[^`]+`"),
    ),
    Cue("project_detail", 1.0, "a version", exact=(r"\bv\d+(?:\.\d+)*\b", r"\b\d+\.\d+\.\d+\b")),
    Cue("project_detail", 1.0, "a figure", exact=(rf"(?<![\w.])[$€¥£]? ?\d[\d,.]{{0,30}}\s?(?:{_UNITS})(?![a-z])",)),
    Cue(
        "project_detail",
        1.5,
        "one thing of the project's",
        rf"the (?:[\w-]+ ){{0,2}}(?:{_THINGS})s?",
        rf"[\w一-龥]{{1,6}}(?:{_PARTS})(?:在|是|用|走|由|有|的|里|从|跑|放|存|监听|叫|只|已|还|改|没|不)",
    ),
    Cue(
        "project_detail",
        2.0,
        "this project",
        rf"(?:this|our) (?:\w+ )?(?:{_OURS})|ours",
        rf"(?:本|这个|该|我们的?|咱们的?|整个)(?:{_WHOLES})|[\w一-龥]{{1,6}}项目(?!中|里的任何)",
    ),
    Cue(
        "project_detail",
        1.5,
        "who is in charge",
        r"owned by|lives? (?:in|under|at|on|behind)",
        "负责|归.{1,6}管|对接人|找.{1,4}(?:要|拿|开)",
        (r"\b[A-Z][a-z]+ (?:owns|maintains|handles|is responsible|runs the|approves|has the|holds the)",),
    ),
    Cue(
        "project_detail",
        1.0,
        "where it lies",
        chinese="放在(?!同一|一起)|存在(?!的)|位于|部署在|跑在|写在|挂在|叫做|名叫|域名|地址是|环境变量|测试环境|生产环境|预发|线上环境",
    ),
    Cue(
        "project_detail",
        1.0,
        "an environment or an hour",
        r"staging|preprod|production (?:database|cluster|server)|nightly|"
        r"at (?:midnight|noon|\d{1,2}(?::\d\d)?(?: ?[ap]m)?)",
        r"每晚|凌晨|零点|[一二三四五六七八九十两\d]{1,3}点(?!钟以内)",
    ),
    # What binds a text to one moment.
    Cue(
        "one_off_decision",
        2.0,
        "a decision",
        r"(?:we|i|they|team) (?:have |had |just )?(?:decided|chose|picked|agreed|settled|opted|went with|dropped|"
        r"postponed|moved|switched|will|are going to|ship|skip|keep|stay|use|go)|we'll|we're|let's|let us|"
        r"(?:decided|agreed|chosen|settled) (?:to|on|that|against)|going with|sign(?:ed)? off",
        "决定|定了|定为|敲定|拍板|选了|选用|选定|改成|改为|改用|换成|沿用|采用|先用|先不|先上|暂不|不做了|砍掉|推迟|延期|"
        "约定|商定|同意|[一-龥](?:用了|选了|改了|换了|砍了|停了|撤了|合了|回滚了)",
        (rf"(?m:(?:^|[.;] ))(?:{_DECIDED})\b",),
    ),
    Cue(
        "one_off_decision",
        1.5,
        "one case",
        r"this time|for this (?:case|release|sprint|one|customer|demo)|just this once|one-off|"
        r"for the (?:demo|launch|pilot|release)|exception",
        "这次|本次|这一次|这回|这一版|这个版本|本期|一期|首期|例外|仅此",
    ),
    Cue(
        "context_fragment",
        2.0,
        "a moment",
        rf"today|tomorrow|yesterday|tonight|right now|for now|at the moment|currently|so far|as of|"
        rf"(?:this|next|last) (?:week|month|morning|afternoon|evening|sprint|quarter|release|{_DAYS})|by {_DAYS}|"
        rf"on {_DAYS}|until (?:the|we|next|{_DAYS})|since (?:the |this )?(?:morning|yesterday|last|{_DAYS})",
        "今天|明天|昨天|今早|今晚|刚才|刚刚|现在|目前|暂时|临时|眼下|当前|这两天|这几天|这周|本周|下周|上周|这个月|本月|"
        "下个月|上个月|早上|下午|节前|节后",
    ),
    Cue(
        "context_fragment",
        1.0,
        "a day",
        rf"{_DAYS}|{_MONTHS}|\d{{4}}-\d\d-\d\d|q[1-4]",
        r"\d+月\d+[日号]|\d{4}年|周[一二三四五六日天]|星期[一二三四五六日天]|月底|年底|月初|季度",
    ),
    Cue(
        "context_fragment",
        2.0,
        "something under way",
        "still|waiting|pending|blocked|in progress|half[- ]done|not yet|yet to|wip|todo|almost done|ongoing|left off|"
        "picks? (?:it|this) up|will (?:send|reply|check|look|get back|finish|merge)|where (?:we|i) (?:stopped|left)|"
        "asked (?:for|me|him|her|them|whether)|is (?:red|green|down|out|away|sick|on leave)",
        "还在|还没|还差|正在|等着|在等|等.{1,8}(?:回|确认|合并|审批|排期|给|修|上线|发)|卡在|待定|待办|没跑完|跑到一半|"
        "做到一半|回头再|稍后|请假|出差|挂了|红了|没回",
    ),
    # What generalizes.
    Cue(
        "preference",
        3.0,
        "what somebody likes",
        r"(?:prefers?|likes?|dislikes?|hates?|loves?|enjoys?|wants?|would rather|favou?rites?|fond of|is happiest|"
        r"appreciates?|can't stand|cares? about|values?) (?!to (?:ship|launch|release|know|see))\w+",
        "喜欢|偏好|偏爱|讨厌|爱用|爱看|更愿意|倾向于?|习惯(?:用|先|把|于|了|看|在)|受不了|反感|"
        "希望(?:回答|回复|我|你|代码|汇报|结论|先|看到)",
    ),
    Cue(
        "general_experience",
        2.0,
        "a lesson",
        "learned|learnt|lessons?|experience|in hindsight|the hard way|turns? out|turned out|taught|more often than not|"
        "nine times|in practice",
        "经验|教训|学到|事后看|往往|十有八九|实践中|吃过亏",
    ),
    Cue(
        "general_experience",
        1.5,
        "what holds in general",
        chinese=r"一[\w一-龥]{1,4}就|^[一-龥]{2,6}会[一-龥]{2}|比[\w一-龥]{1,10}(?:更|还)|越[一-龥]{1,6}越",
        exact=(
            r"(?m:^)(?:[A-Z][a-z]+ )?[A-Z]?[a-z-]+s (?:\w+ ){0,6}(?:hide|make|cost|break|lie|rot|hurt|turn|leak|"
            r"outlive|drift|decay|mislead|amplify|punish|reward|multiply)\b",
            r"(?m:^)An? [a-z-]+ .{0,60}\b(?:is|should|hides|makes|costs|needs|breaks|beats|saves|lies)\b",
        ),
    ),
    Cue(
        "common_pitfall",
        2.0,
        "a trap",
        "pitfall|trap|gotcha|beware|watch out|careful|bites?|easy to (?:forget|miss)|silently|subtle|footgun|"
        "classic (?:mistake|bug)",
        "踩坑|坑(?!位)|陷阱|当心|小心|注意|容易(?:忘|漏|错|出|被|把|误)|千万|误以为|看似",
    ),
    Cue(
        "common_pitfall",
        1.5,
        "what is never to be done",
        "never|don't|do not|avoid",
        "不要|别(?:把|在|用|让|相信|急|为|再|只|直接|忘)|切勿|避免|不能只|不该|从不|永远不|绝不",
    ),
    Cue(
        "design_principle",
        1.5,
        "a rule",
        "always|whenever|every time|each time|in general|generally|as a rule|rule of thumb|principle|anything|anyone|"
        "anywhere|any|every|should|must|ought|usually|tends?|rather than|better than|cheaper than|beats?|no matter|"
        "regardless|unless",
        "总是|总要|永远|每次|每当|一般|凡是|通常|任何|都要|都应|都得|应该|应当|必须|尽量|优先|最好|务必|宁可|宁愿|原则|"
        "无论|不管|只要.{1,20}就|一定要|胜过|先.{1,24}[,，]?(?:再|然后|才)|而不是|(?:比.{1,16})(?:好|强|重要|便宜|可靠|值)",
    ),
    Cue(
        "working_mode",
        1.5,
        "advice",
        chinese=r"(?m:^|[，。；])[\w一-龥 ]{1,10}(?:前|之前|时|的时候|后|之后)[，,]?(?:先|要|都|再|应)",
        exact=(rf"(?im:(?:^|[.;:,] |\bthen |\band |\bso )(?:{_ADVICE})\b(?! (?:is|was|are|were|has|will)\b))",),
    ),
    Cue("working_mode", 0.5, "you", "you|your|one's"),
    # What leaves it open.
    Cue(
        UNKNOWN,
        1.0,
        "doubt",
        "perhaps|maybe|might|possibly|probably|seems?|seemed|not sure|i think|unclear|could be|arguably|apparently|"
        "sometimes|in our case|for us|here",
        "大概|也许|可能|似乎|好像|看情况|不确定|说不定|感觉|或许|至少(?:在)?这|这里|这边|未必|有时|我们这",
    ),
)

#: Names with a capital that bind a text to nothing: what everybody's projects use.
WELL_KNOWN = frozenset(_WELL_KNOWN.split())
