/** Runs a shell command as the agent of a consolidation: one JSON object in and one out, for each phase. */
import { hasCode } from "@sessions/core"
import type { ConsolidationTools, RunPhase } from "@sessions/recall"
import { CommandError } from "../errors.ts"
import type { Io } from "../io.ts"
import { runShellCommand } from "../shell-command.ts"

/** UTF-16 units of a session, its newest messages. A hundred sessions are then at most 5 MB. */
const MAX_SESSION_UNITS = 50_000

/**
 * Errors of one session: it was deleted since it was listed, for example while the command worked on an earlier phase; or its log cannot be
 * read, which `verify` reports.
 */
const LEFT_OUT = ["not_found", "corrupt", "not_a_session", "newer_version", "older_version"] as const

/** The command has no tools: it gets the files and the sessions, and answers with the files to write and to delete. */
export function commandAgent(command: string, io: Pick<Io, "cwd" | "env">): RunPhase {
  return async ({ phase, prompt, tools, signal }) => {
    const files = await readFiles(tools)
    const request = { phase, prompt, files, sessions: await readSessions(tools) }
    const output = await runShellCommand(command, `${JSON.stringify(request)}\n`, io, { signal })
    const { write, remove, notes } = parseAnswer(output)
    for (const { name, text } of write) await tools.writeMemory(name, text)
    for (const name of remove) await tools.deleteMemory(name)
    return notes
  }
}

async function readFiles(tools: ConsolidationTools): Promise<readonly { name: string; text: string }[]> {
  const files: { name: string; text: string }[] = []
  for (const name of await tools.listMemory()) {
    const text = await tools.readMemory(name)
    if (text !== undefined) files.push({ name, text })
  }
  return files
}

async function readSessions(tools: ConsolidationTools): Promise<readonly unknown[]> {
  const sessions: unknown[] = []
  for (const { id, title = null, at } of await tools.listSessions()) {
    try {
      sessions.push({ id, title, at, text: await newestText(tools, id) })
    } catch (error) {
      if (!LEFT_OUT.some((code) => hasCode(error, code))) throw error
    }
  }
  return sessions
}

async function newestText(tools: ConsolidationTools, id: string): Promise<string> {
  let text = ""
  let before: string | undefined
  do {
    const page = await tools.readSession(id, before === undefined ? {} : { before })
    text = text === "" ? page.text : `${page.text}\n\n${text}`
    before = page.before
  } while (before !== undefined && text.length < MAX_SESSION_UNITS)
  if (text.length <= MAX_SESSION_UNITS) return text
  return `[older messages are left out]\n${text.slice(-MAX_SESSION_UNITS).replace(/^[\uDC00-\uDFFF]/, "")}`
}

interface Answer {
  readonly write: readonly { readonly name: string; readonly text: string }[]
  readonly remove: readonly string[]
  readonly notes: string | undefined
}

function parseAnswer(output: string): Answer {
  let answer: unknown
  try {
    answer = JSON.parse(output)
  } catch {
    throw wrong("it is no JSON")
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw wrong("it is no object")
  const { write = [], delete: remove = [], notes, ...others } = answer as Readonly<Record<string, unknown>>
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw wrong(`it has a field ${JSON.stringify(unknown)}`)
  if (!Array.isArray(write) || !write.every(isFile)) throw wrong("`write` is no list of { name, text }")
  if (!Array.isArray(remove) || !remove.every((name) => typeof name === "string")) {
    throw wrong("`delete` is no list of names")
  }
  if (notes !== undefined && typeof notes !== "string") throw wrong("`notes` is no text")
  return { write, remove, notes }
}

function isFile(value: unknown): value is Answer["write"][number] {
  const { name, text } = (value ?? {}) as { name?: unknown; text?: unknown }
  return typeof name === "string" && typeof text === "string"
}

function wrong(why: string): CommandError {
  return new CommandError(
    `its answer cannot be used: ${why}; print { "write": [{ "name", "text" }], "delete": [names], "notes" }.`,
  )
}
