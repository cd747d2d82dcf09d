/** Calls everything that reads a stored session, or writes to it, and says which calls failed with something else than a coded error. */
import { branchWithSummary, compact, shorten } from "@sessions/core/compaction"
import {
  exportSession,
  forkSession,
  importSession,
  sessionBranches,
  sessionTree,
  verifySession,
} from "@sessions/core/transfer"
import type { Session, Sessions } from "../src/index.ts"

export interface Called {
  /** `call: error` of each call that failed with a defect of the program. */
  readonly defects: readonly string[]
  /** The text of the export, if the log can be read from start to end. */
  readonly exported: string | undefined
}

/** Leaves the log as it is; `writingCalls` come after these. */
export async function readingCalls(sessions: Sessions, id: string): Promise<Called> {
  const defects: string[] = []
  const tried = (name: string, call: () => Promise<unknown>): Promise<void> => attempt(defects, name, call)
  await tried("list", () => sessions.list())
  await tried("info", () => sessions.info(id))
  await tried("open", async () => {
    const session = await sessions.open(id)
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      context: () => session.context(),
      "context as stored": () => session.context({ repair: "none", shorten: shorten(), window: 1_000 }),
      messages: () => session.messages(),
      entries: () => drain(session.entries()),
      tree: () => sessionTree(session),
      branches: () => sessionBranches(session),
      "info of the session": () => session.info(),
      parts: () => session.parts(),
      entry: () => session.entry(session.leafId ?? "x"),
    }
    for (const [name, call] of Object.entries(calls)) await tried(name, call)
    await session.close()
  })
  await tried("verify", () => verifySession(sessions, id))
  let exported: string | undefined
  await tried("export", async () => (exported = await drain(exportSession(sessions, id))))
  await tried("export with blobs", () => drain(exportSession(sessions, id, { selfContained: true })))
  await tried("export as Markdown", () => drain(exportSession(sessions, id, { format: "markdown" })))
  return { defects, exported }
}

/** Calls that write; the log is another one afterwards. */
export async function writingCalls(sessions: Sessions, id: string): Promise<readonly string[]> {
  const defects: string[] = []
  const tried = (name: string, call: () => Promise<unknown>): Promise<void> => attempt(defects, name, call)
  await tried("fork", async () => (await forkSession(sessions, id)).close())
  await tried("open for writing", async () => {
    const session: Session = await sessions.open(id)
    const summarize = async (): Promise<string> => "Summary."
    await tried("branchWithSummary", () => branchWithSummary(session, null, { summarize }))
    await tried("append", () => session.append({ type: "message", message: { role: "user", content: "next" } }))
    await tried("compact", () => compact(session, { summarize, keepRecentTokens: 0 }))
    await tried("context after a compaction", () => session.context())
    await session.close()
  })
  return defects
}

/** Imports the text of a log, of any version, as a new session. */
export async function importingCall(sessions: Sessions, text: string): Promise<readonly string[]> {
  const defects: string[] = []
  await attempt(defects, "import", () => importSession(sessions, text))
  return defects
}

async function attempt(defects: string[], name: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call()
  } catch (error) {
    const defect = defectOf(error)
    if (defect !== undefined) defects.push(`${name}: ${defect}`)
  }
}

/** An error without a code, or one that an adapter or the compaction made of a defect. */
function defectOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return `threw ${typeof error}`
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  const shown = ({ name, message, stack = "" }: Error): string =>
    [
      `${name}: ${message.slice(0, 200)}`,
      ...stack
        .split("\n")
        .filter((line) => /^ +at /.test(line))
        .slice(0, 5),
    ].join("\n")
  if (typeof code !== "string" || !/^[a-z_]+$/.test(code)) return shown(error)
  if (code !== "unavailable" && code !== "compaction_failed") return undefined
  const isDefect = cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError
  return isDefect ? shown(cause) : undefined
}

async function drain(items: AsyncIterable<unknown>): Promise<string> {
  let text = ""
  for await (const item of items) if (typeof item === "string") text += item
  return text
}
