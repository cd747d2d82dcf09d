import type { ListOptions, SessionInfo, SessionPage, Sessions } from "@sessions/core"
import { integerOption } from "../option-values.ts"
import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { fit, formatAge, formatBytes, formatNumber, table } from "../output/format.ts"
import { preview } from "../output/messages.ts"
import { type Line, type Span, styled, type View } from "../output/lines.ts"
import { absoluteFolder } from "../store/resolve.ts"

export const list: Command = defineCommand({
  name: "list",
  summary: "list the sessions of the store, newest message first",
  args: [],
  options: {
    cwd: { type: "string", value: "PATH", help: "only sessions of this folder (. is the current one)" },
    all: { type: "boolean", help: "all sessions, not only the first page" },
    limit: { type: "string", value: "N", help: "sessions per page, 1 to 200 (default 50)" },
    cursor: { type: "string", value: "CURSOR", help: "continue after the previous page" },
  },
  notes: ["Without --cwd, lists the sessions of all folders."],
  examples: ["list", "list --cwd . --limit 5", "list --all --json", "list --store ~/agent/sessions"],
  async run({ sessions, values, io }) {
    if (values.all === true && values.cursor !== undefined) throw new UsageError("use --all or --cursor, not both.")
    const limit = integerOption("limit", values.limit, 1, 200)
    const options: ListOptions = {
      ...(limit === undefined ? {} : { limit }),
      ...(values.cursor === undefined ? {} : { cursor: values.cursor }),
      ...(values.cwd === undefined ? {} : { cwd: absoluteFolder(values.cwd, io.cwd) }),
    }
    const page = values.all === true ? await listAllPages(sessions, options) : await sessions.list(options)
    return {
      json: { ...page, unreadable: page.unreadable.map(unreadableJson) },
      text: (view) => [
        ...(page.sessions.length === 0 ? [emptyText(sessions, options)] : sessionLines(page.sessions, view)),
        ...page.unreadable
          .map(unreadableJson)
          .map(({ id, message }) => [styled("red", "unreadable"), ` ${id}: ${message}`]),
        ...nextPageLine(page.next),
      ],
    }
  },
})

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

function unreadableJson({ id, error }: SessionPage["unreadable"][number]): {
  id: string
  code?: string
  message: string
} {
  const { code, message }: Error & { readonly code?: unknown } =
    error instanceof Error ? error : new Error(String(error))
  return { id, ...(typeof code === "string" ? { code } : {}), message }
}

function emptyText({ storage }: Sessions, { cwd }: ListOptions): string {
  return `No sessions in ${storage.description}${cwd === undefined ? "" : ` for the folder ${cwd}`}.`
}

function sessionLines(infos: readonly SessionInfo[], view: View): Line[] {
  const heading = ["ID", "AGE", "MESSAGES", "PARTS", "SIZE", "TITLE"].map((name) => styled("dim", name))
  const cells = infos.map((info): Span[] => [
    info.id,
    formatAge(info.lastMessageAt, view.now),
    formatNumber(info.messageCount),
    formatNumber(info.parts.length),
    formatBytes(info.bytes),
    titleOf(info),
  ])
  return table([heading, ...cells], ["left", "right", "right", "right", "right", "left"]).map((line) =>
    fit(line, view.columns),
  )
}

function titleOf(info: SessionInfo): Span {
  const prefix = info.incomplete === true ? "(incomplete) " : ""
  if (info.title !== undefined) return styled("bold", prefix + preview(info.title, TITLE_UNITS))
  return prefix + (info.firstPrompt === undefined ? "(no prompt yet)" : preview(info.firstPrompt, TITLE_UNITS))
}

const TITLE_UNITS = 80

function nextPageLine(next: string | undefined): Line[] {
  return next === undefined ? [] : [styled("dim", `next page: sessions list --cursor ${next}`)]
}
