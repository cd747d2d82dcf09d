import type { ListOptions, SessionInfo, SessionPage, Sessions } from "@sessions/core"
import { integerOption } from "../option-values.ts"
import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { fit, formatAge, formatBytes, formatCount, formatNumber, table } from "../output/format.ts"
import { preview } from "../output/messages.ts"
import { type Line, type Span, styled, type View } from "../output/lines.ts"
import { unreadableJson, unreadableLine } from "../output/unreadable.ts"
import { absoluteFolder } from "../store/resolve.ts"

export const list: Command = defineCommand({
  name: "list",
  summary: "list the sessions of the store, newest message first",
  args: [],
  options: {
    cwd: { type: "string", value: "PATH", help: "only sessions of this folder (. is the current one)" },
    kind: { type: "string", value: "NAME", help: "only sessions of this kind; none: only those without a kind" },
    all: { type: "boolean", help: "all sessions, not only the first page" },
    limit: { type: "string", value: "N", help: "sessions per page, 1 to 200 (default 50)" },
    cursor: { type: "string", value: "CURSOR", help: "continue after the previous page" },
  },
  notes: [
    "Without --cwd, lists the sessions of all folders; without --kind, those of all kinds.",
    "Programs that store sessions of their own give them a kind. Sessions that a person works in have none.",
  ],
  examples: [
    "list",
    "list --cwd . --limit 5",
    "list --kind langgraph",
    "list --all --json",
    "list --store ~/agent/sessions",
  ],
  async run({ sessions, values, io }) {
    if (values.all === true && values.cursor !== undefined) throw new UsageError("use --all or --cursor, not both.")
    const limit = integerOption("limit", values.limit, 1, 200)
    const options: ListOptions = {
      ...(limit === undefined ? {} : { limit }),
      ...(values.cursor === undefined ? {} : { cursor: values.cursor }),
      ...(values.cwd === undefined ? {} : { cwd: absoluteFolder(values.cwd, io.cwd) }),
      ...(values.kind === undefined ? {} : { kind: kindOf(values.kind) }),
    }
    const page = values.all === true ? await listAllPages(sessions, options) : await sessions.list(options)
    return {
      json: { ...page, unreadable: page.unreadable.map(unreadableJson) },
      text: (view) => [
        ...(page.sessions.length === 0 ? [emptyText(sessions, options)] : sessionLines(page.sessions, view)),
        ...page.unreadable.map(unreadableLine),
        ...nextPageLine(page.next, values),
      ],
    }
  },
})

function kindOf(name: string): string | null {
  if (name === "") throw new UsageError("--kind needs a name, or none for the sessions without a kind.")
  return name === "none" ? null : name
}

/** Lists by pages. An unreadable log is reported on each of them, so it is kept once. */
async function listAllPages(sessions: Sessions, options: ListOptions): Promise<SessionPage> {
  const all: SessionInfo[] = []
  const unreadable = new Map<string, SessionPage["unreadable"][number]>()
  let cursor: string | undefined
  do {
    const after = cursor === undefined ? {} : { cursor }
    const page = await sessions.list({ ...options, limit: options.limit ?? 200, ...after })
    all.push(...page.sessions)
    for (const one of page.unreadable) unreadable.set(one.id, one)
    cursor = page.next
  } while (cursor !== undefined)
  return { sessions: all, unreadable: [...unreadable.values()] }
}

function emptyText({ storage }: Sessions, { cwd, kind }: ListOptions): string {
  const ofKind = kind === undefined ? "" : kind === null ? " without a kind" : ` of the kind ${kind}`
  return `No sessions${ofKind} in ${storage.description}${cwd === undefined ? "" : ` for the folder ${cwd}`}.`
}

function sessionLines(infos: readonly SessionInfo[], view: View): Line[] {
  // Most stores have no session with a kind, and the title needs the width.
  const hasKinds = infos.some(({ kind }) => kind !== undefined)
  const names = ["ID", "AGE", "MESSAGES", "PARTS", "SIZE", ...(hasKinds ? ["KIND"] : []), "TITLE"]
  const heading = names.map((name) => styled("dim", name))
  const cells = infos.map((info): Span[] => [
    info.id,
    formatAge(info.lastMessageAt, view.now),
    formatNumber(info.messageCount),
    formatNumber(info.parts.length),
    formatBytes(info.bytes),
    ...(hasKinds ? [info.kind ?? "-"] : []),
    titleOf(info),
  ])
  return table([heading, ...cells], ["left", "right", "right", "right", "right", "left", "left"]).map((line) =>
    fit(line, view.columns),
  )
}

function titleOf(info: SessionInfo): Span {
  const prefix = `${info.incomplete === true ? "(incomplete) " : ""}${openMark(info)}`
  if (info.title !== undefined) return styled("bold", prefix + preview(info.title, TITLE_UNITS))
  return prefix + (info.firstPrompt === undefined ? "(no prompt yet)" : preview(info.firstPrompt, TITLE_UNITS))
}

/** Marks a session with branches that no writer left on purpose; `sessions branches` lists them. */
function openMark({ openTips }: SessionInfo): string {
  const count = (openTips?.tips.length ?? 0) + (openTips?.more ?? 0)
  return count === 0 ? "" : `(${formatCount(count, "open branch", "open branches")}) `
}

const TITLE_UNITS = 80

type Filters = Readonly<Partial<Record<"cwd" | "kind" | "limit", string>>>

function nextPageLine(next: string | undefined, { cwd, kind, limit }: Filters): Line[] {
  if (next === undefined) return []
  const given = Object.entries({ cwd, kind, limit, cursor: next }).filter(([, value]) => value !== undefined)
  const options = given.map(([name, value]) => `--${name} ${shellWord(value as string)}`)
  return [styled("dim", `next page: sessions list ${options.join(" ")}`)]
}

function shellWord(text: string): string {
  return /^[\w./:@~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
