import type { ListOptions, SessionInfo, SessionPage, Sessions } from "@sessions/core"
import { integerOption } from "../option-values.ts"
import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { fit, formatAge, formatBytes, formatNumber, table } from "../output/format.ts"
import { preview } from "../output/messages.ts"
import type { Line, Span, View } from "../output/lines.ts"
import { styled } from "../output/lines.ts"
import { folder } from "../store/resolve.ts"

export const list: Command = defineCommand({
  name: "list",
  summary: "the sessions of the store, newest message first",
  args: [],
  options: {
    cwd: { type: "string", value: "PATH", help: "only those of this folder (. is the current one)" },
    all: { type: "boolean", help: "all of them, not just the first page" },
    limit: { type: "string", value: "N", help: "sessions on a page, 1 to 200 (default 50)" },
    cursor: { type: "string", value: "CURSOR", help: "go on where the page before ended" },
  },
  notes: ["Without --cwd: of every folder."],
  examples: ["list", "list --cwd . --limit 5", "list --all --json", "list --store ~/agent/sessions"],
  async run({ sessions, values, io }) {
    if (values.all === true && values.cursor !== undefined)
      throw new UsageError("list takes --all or --cursor, not both.")
    const limit = integerOption("limit", values.limit, 1, 200)
    const options: ListOptions = {
      ...(limit === undefined ? {} : { limit }),
      ...(values.cursor === undefined ? {} : { cursor: values.cursor }),
      ...(values.cwd === undefined ? {} : { cwd: folder(values.cwd, io.cwd) }),
    }
    const page = values.all === true ? await everyPage(sessions, options) : await sessions.list(options)
    return {
      json: { ...page, unreadable: page.unreadable.map(reasonOf) },
      text: (view) => [
        ...(page.sessions.length === 0 ? [nothing(sessions, options)] : rows(page.sessions, view)),
        ...page.unreadable.map(reasonOf).map(({ id, message }) => [styled("red", "unreadable"), ` ${id}: ${message}`]),
        ...more(page.next),
      ],
    }
  },
})

/** A log that cannot be read is met on every page that lies behind it. */
async function everyPage(sessions: Sessions, options: ListOptions): Promise<SessionPage> {
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

function reasonOf({ id, error }: SessionPage["unreadable"][number]): { id: string; code?: string; message: string } {
  const { code, message }: Error & { readonly code?: unknown } =
    error instanceof Error ? error : new Error(String(error))
  return { id, ...(typeof code === "string" ? { code } : {}), message }
}

function nothing({ storage }: Sessions, { cwd }: ListOptions): string {
  return `No sessions in ${storage.description}${cwd === undefined ? "" : ` with the folder ${cwd}`}.`
}

function rows(infos: readonly SessionInfo[], view: View): Line[] {
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
  const mark = info.incomplete === true ? "(incomplete) " : ""
  if (info.title !== undefined) return styled("bold", mark + preview(info.title, TITLE_UNITS))
  return mark + (info.firstPrompt === undefined ? "(no prompt yet)" : preview(info.firstPrompt, TITLE_UNITS))
}

const TITLE_UNITS = 80

function more(next: string | undefined): Line[] {
  return next === undefined ? [] : [styled("dim", `more: sessions list --cursor ${next}`)]
}
