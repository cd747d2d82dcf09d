/** An agent whose sessions the command finds, imports and writes. `table.ts` lists all of them. */
import type { Format, Writer } from "@sessions/formats"

export interface Agent {
  readonly format: Format
  /** The folder with the agent's sessions, by the variables that the agent itself reads. */
  readonly folder: (system: AgentSystem) => string
  /** Whether a file is a session. `path`: from the folder, with `/`. Files of subagents belong to their parent session. */
  readonly isSession: (path: string) => boolean
  /** The folder with the sessions of the subagents of a session file; none if the agent has no such files. */
  readonly subagents?: (file: string) => string
  /** Where a written session belongs, and the command that resumes it there; missing if the format is only read. */
  readonly place?: (session: PlacedSession) => Place
}

/** An agent that a session is handed over to. */
export interface Target {
  readonly format: Writer
  readonly folder: Agent["folder"]
  readonly place: (session: PlacedSession) => Place
  /** The id in the agent, if it is no UUID: it follows from the UUID and the time of the session, ISO 8601. */
  readonly idOf?: (uuid: string, createdAt: string) => Promise<string>
  /** The agent's own command that takes over a file, whose path follows; for an agent that keeps its sessions in a database. */
  readonly importer?: readonly [program: string, ...args: string[]]
}

export interface AgentSystem {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's folder. */
  readonly home: string
}

export interface PlacedSession {
  readonly folder: string
  /** A UUID, or what `idOf` gives. */
  readonly id: string
  readonly cwd: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
}

export interface Place {
  /** For a target with an importer: the name of the file that it is given. */
  readonly file: string
  /** A command line for a POSIX shell. */
  readonly resume: string
}

/** A word of a command line for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:@~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
