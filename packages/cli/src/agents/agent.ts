/** An agent whose sessions the command finds, imports and writes. `table.ts` lists all of them. */
import type { Format, Writer } from "@sessions/formats"

/** An agent whose sessions are found. */
export interface Agent {
  readonly format: Format
  /** Its sessions on this machine, the newest first; none if it is not installed. */
  readonly sessions: (system: AgentSystem) => Promise<readonly FoundSession[]>
  /** The folder with the sessions of the subagents of a session file; missing if the agent has no such files. */
  readonly subagents?: (file: string) => string
  /** Which files in that folder are sessions, by their paths from there. Default: all `.jsonl`. */
  readonly isSubagent?: (path: string) => boolean
}

export interface FoundSession {
  /** The path of the session's file. Of a session in a database, the path of the database, `#` and the id. */
  readonly file: string
  readonly bytes: number
  /** ISO 8601. */
  readonly modifiedAt: string
  /** What the agent's own list says of it; missing if the file says it. */
  readonly described?: Described
  /** Its content, at each call; missing if it is that of the file. */
  readonly read?: () => AsyncIterable<string>
  /** A session of a subagent in a database. In files these belong to the session that started them. */
  readonly isSubagent?: boolean
}

export interface Described {
  /** The id of the session in the agent. */
  readonly id?: string
  readonly cwd?: string
  readonly title?: string
}

/** An agent that a session is handed over to. */
export interface Target {
  readonly format: Writer
  /** Where a written session belongs, and the command that resumes it there. */
  readonly place: (session: PlacedSession, system: AgentSystem) => Place | Promise<Place>
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
  /** A UUID, or what `idOf` gives. */
  readonly id: string
  readonly cwd: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
}

export interface Place {
  /** For a target with an importer: the name of the file that it is given. */
  readonly file: string
  /** A file that the agent needs to find the session. It is written first, unless it is there. */
  readonly marker?: { readonly file: string; readonly text: string }
  /** A command line for a POSIX shell. */
  readonly resume: string
}

/** A word of a command line for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:@~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
