import { AGENTS, systemOf } from "../agents/table.ts"
import type { Agent, AgentSystem, Described, FoundSession } from "../agents/agent.ts"
import { describe } from "../agents/session-files.ts"
import { type Command, defineCommand } from "../command.ts"
import { fit, formatAge, formatBytes, table } from "../output/format.ts"
import { type Line, type Span, styled, type View } from "../output/lines.ts"
import { preview, TITLE_UNITS } from "../output/messages.ts"
import { choiceOption } from "../option-values.ts"
import { absoluteFolder } from "../store/resolve.ts"

const NAMES = AGENTS.map(({ format }) => format.format)

export const discover: Command = defineCommand({
  name: "discover",
  summary: "list the sessions of other agents on this machine, newest first",
  args: [],
  options: {
    from: { type: "string", value: "FORMAT", choices: NAMES, help: `only sessions of one agent: ${NAMES.join(", ")}` },
    cwd: { type: "string", value: "PATH", help: "only sessions of this folder (. is the current one)" },
    files: { type: "boolean", help: "show the files instead of the titles" },
  },
  notes: [
    "Looks where the agents keep their sessions, as CLAUDE_CONFIG_DIR and similar variables say. Nothing is imported or changed.",
    "Sessions that Codex and deepseek-harness have compressed (.zst, .zstd) are listed on Node 22.15 and newer and in Bun, those of opencode, which are in a database,",
    "on Node and in Bun. An agent whose sessions cannot be read is reported, and the others are listed.",
  ],
  examples: ["discover", "discover --cwd . --files", "discover --json"],
  usesStore: false,
  async run({ values, io, progress }) {
    const from = choiceOption("from", values.from, NAMES, undefined)
    const cwd = values.cwd === undefined ? undefined : absoluteFolder(values.cwd, io.cwd)
    const sessions: Listed[] = []
    const failed: Failed[] = []
    for (const agent of AGENTS) {
      if (from !== undefined && agent.format.format !== from) continue
      for (const found of await foundOf(agent, systemOf(io), failed)) {
        if (found.isSubagent === true) continue
        progress.update(() => `reading: ${found.file}`)
        // A file may be removed, or be unreadable for this user; the others are listed all the same.
        const described = await describe(agent.format, found).catch(() => undefined)
        if (described === undefined || (cwd !== undefined && described.cwd !== cwd)) continue
        const { file, bytes, modifiedAt } = found
        sessions.push({ agent: agent.format.format, file, bytes, modifiedAt, ...described })
      }
    }
    const listed = oneOfEach(sessions)
    listed.sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1))
    return {
      json: { sessions: listed, ...(failed.length === 0 ? {} : { failed }) },
      text: (view) => [...linesOf(listed, values.files === true, view), ...failed.map(failedLine)],
    }
  },
})

interface Listed extends Described, Pick<FoundSession, "file" | "bytes" | "modifiedAt"> {
  readonly agent: string
}

/** Several files may be one session: it is as new as the newest, and the largest says what it is. */
function oneOfEach(sessions: readonly Listed[]): Listed[] {
  const found = new Map<string, Listed>()
  for (const one of sessions) {
    const key = `${one.agent}/${one.id ?? one.file}`
    const other = found.get(key)
    const larger = other === undefined || one.bytes > other.bytes ? one : other
    const newest = other !== undefined && other.modifiedAt > one.modifiedAt ? other : one
    found.set(key, { ...larger, modifiedAt: newest.modifiedAt })
  }
  return [...found.values()]
}

interface Failed {
  readonly agent: string
  readonly code?: string
  readonly message: string
}

async function foundOf(agent: Agent, system: AgentSystem, failed: Failed[]): Promise<readonly FoundSession[]> {
  try {
    return await agent.sessions(system)
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: unknown }
    failed.push({ agent: agent.format.format, ...(typeof code === "string" ? { code } : {}), message })
    return []
  }
}

function failedLine({ agent, message }: Failed): Line {
  return [styled("red", "unreadable"), ` ${agent}: ${message}`]
}

function linesOf(sessions: readonly Listed[], withFiles: boolean, view: View): Line[] {
  if (sessions.length === 0) return ["No sessions of other agents were found."]
  const last = withFiles ? "FILE" : "TITLE"
  const heading = ["AGENT", "AGE", "SIZE", "ID", "FOLDER", last].map((name) => styled("dim", name))
  const rows = sessions.map(({ agent, modifiedAt, bytes, cwd, title, file, id }): Span[] => [
    agent,
    formatAge(modifiedAt, view.now),
    formatBytes(bytes),
    id ?? "-",
    cwd ?? "-",
    withFiles ? file : preview(title ?? "(no prompt yet)", TITLE_UNITS),
  ])
  const columns = ["left", "right", "right", "left", "left", "left"] as const
  return table([heading, ...rows], columns).map((line) => fit(line, view.columns))
}
