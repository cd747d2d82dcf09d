import type { ListOptions, SessionInfo, SessionPage, Sessions } from "@sessions/core"
import { integerOption } from "../option-values.ts"
import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { fit, formatAge, formatBytes, formatCount, formatNumber, table } from "../output/format.ts"
import { preview, TITLE_UNITS } from "../output/messages.ts"
import { type Line, type Span, styled, type View } from "../output/lines.ts"
import { sanitizeLine } from "../output/sanitize.ts"
import { unreadableJson, unreadableLine } from "../output/unreadable.ts"
import { agentIdOf } from "../store/agent-ids.ts"
import { absoluteFolder, allIds } from "../store/resolve.ts"
import { shortIds } from "../store/short-ids.ts"

export const list: Command = defineCommand({
  name: "list",
  summary: "list the sessions of the store, newest message first",
  args: [],
  options: {
    cwd: { type: "string", value: "PATH", help: "only sessions of this folder (. is the current one)" },
    kind: { type: "string", value: "NAME", help: "only sessions of this kind; none: only those without a kind" },
    all: { type: "boolean", help: "all sessions, not only the first page" },
    limit: { type: "string", value: "N", help: "sessions per page, 1 to 200 (default 50)" },
    full: { type: "boolean", help: "whole ids also on a terminal, and those that agents gave imported sessions" },
    cursor: { type: "string", value: "CURSOR", help: "continue after the previous page" },
  },
  notes: [
    "On a terminal each id is its shortest prefix that no other session begins with; every command takes it.",
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
    // A pipe gets whole ids: what reads it may keep them.
    const isShort = io.stdout.isTerminal && values.full !== true && page.sessions.length > 0
    const shown = page.sessions.map(({ id }) => id)
    const agentIds = values.full === true ? await agentIdsOf(sessions, shown) : undefined
    const names = shortIds(shown, isShort ? await allIds(sessions) : [])
    const named = (infos: readonly SessionInfo[]): readonly SessionInfo[] =>
      isShort ? infos.map((info) => ({ ...info, id: names.get(info.id) ?? info.id })) : infos
    return {
      json: {
        ...page,
        ...(agentIds === undefined ? {} : { agentIds: Object.fromEntries(agentIds) }),
        unreadable: page.unreadable.map(unreadableJson),
      },
      text: (view) => [
        ...(page.sessions.length === 0
          ? [emptyText(sessions, options)]
          : sessionLines(
              named(page.sessions),
              columnsFor(named(page.sessions), options.cwd, view, io.env["HOME"], agentIds),
              view,
            )),
        ...page.unreadable.map(unreadableLine),
        ...nextPageLine(page.next, values as Filters, io.program),
      ],
    }
  },
})

/** By ours. */
async function agentIdsOf(sessions: Sessions, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const id of ids) {
    const agentId = await agentIdOf(sessions, id)
    if (agentId !== undefined) found.set(id, agentId)
  }
  return found
}

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

interface Column {
  readonly name: string
  readonly align: "left" | "right"
  readonly cell: (info: SessionInfo) => string
}

/** Columns between the id and the title, in the order in which they give way to the title on a narrow terminal. */
function columnsFor(
  infos: readonly SessionInfo[],
  cwd: string | undefined,
  { now, columns }: View,
  home: string | undefined,
  agentIds: ReadonlyMap<string, string> = new Map(),
): Column[] {
  const all: (Column & { readonly isUsed: boolean; readonly place: number })[] = [
    { place: 2, name: "PARTS", align: "right", cell: ({ parts }) => formatNumber(parts.length), isUsed: true },
    { place: 3, name: "SIZE", align: "right", cell: ({ bytes }) => formatBytes(bytes), isUsed: true },
    {
      place: 1,
      name: "MESSAGES",
      align: "right",
      cell: ({ messageCount }) => formatNumber(messageCount),
      isUsed: true,
    },
    // Most stores have no session with a kind.
    {
      place: 4,
      name: "KIND",
      align: "left",
      cell: ({ kind }) => kind ?? "-",
      isUsed: infos.some(({ kind }) => kind !== undefined),
    },
    {
      place: 5,
      name: "FOLDER",
      align: "left",
      cell: (info) => folderOf(info, home),
      isUsed: cwd === undefined && infos.some((info) => info.cwd !== undefined),
    },
    {
      place: -1,
      name: "ID IN THE AGENT",
      align: "left",
      cell: ({ id }) => sanitizeLine(agentIds.get(id) ?? "-"),
      isUsed: agentIds.size > 0,
    },
    { place: 0, name: "AGE", align: "right", cell: ({ lastMessageAt }) => formatAge(lastMessageAt, now), isUsed: true },
  ]
  const used = all.filter(({ isUsed }) => isUsed)
  const widthOf = ({ name, cell }: Column): number => Math.max(name.length, ...infos.map((info) => cell(info).length))
  const ids = Math.max(2, ...infos.map(({ id }) => id.length))
  let free = (columns ?? Number.POSITIVE_INFINITY) - ids - GAP
  for (const column of used) free -= widthOf(column) + GAP
  while (free < TITLE_LEAST && used.length > 1) free += widthOf(used.shift() as Column) + GAP
  return used.sort((x, y) => x.place - y.place)
}

/** Between two columns. */
const GAP = 2
/** Units of a title that other columns leave. */
const TITLE_LEAST = 24
const FOLDER_UNITS = 24

/** The end of the path, which says more than its beginning; "~" for the home folder. */
function folderOf({ cwd }: SessionInfo, home: string | undefined): string {
  if (cwd === undefined) return "-"
  const isBelow = home !== undefined && home !== "" && (cwd === home || cwd.startsWith(`${home}/`))
  const path = sanitizeLine(isBelow ? `~${cwd.slice(home.length)}` : cwd)
  return path.length <= FOLDER_UNITS ? path : `…${path.slice(1 - FOLDER_UNITS)}`
}

function sessionLines(infos: readonly SessionInfo[], columns: readonly Column[], view: View): Line[] {
  const heading = ["ID", ...columns.map(({ name }) => name), "TITLE"].map((name) => styled("dim", name))
  const cells = infos.map((info): Span[] => [info.id, ...columns.map(({ cell }) => cell(info)), titleOf(info)])
  const rows = table([heading, ...cells], ["left", ...columns.map(({ align }) => align), "left"])
  return rows.map((line) => fit(line, view.columns))
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

/** As given on the command line. */
type Filters = Readonly<Partial<Record<"store" | "cwd" | "kind" | "limit", string>>>

function nextPageLine(
  next: string | undefined,
  { store, cwd, kind, limit }: Filters,
  program: string = "sessions",
): Line[] {
  if (next === undefined) return []
  const given = Object.entries({ store, cwd, kind, limit, cursor: next }).filter(([, value]) => value !== undefined)
  const options = given.map(([name, value]) => `--${name} ${shellWord(value as string)}`)
  return [styled("dim", `next page: ${program} list ${options.join(" ")}`)]
}

function shellWord(text: string): string {
  return /^[\w./:@~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
