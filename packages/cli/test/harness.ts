/** Runs the command on stores in memory and captures its output. */
import { createSessions, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { type Io, run, type Sink, type StoreFactory } from "../src/index.ts"

export interface Result {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string
  readonly cwd?: string
  readonly program?: string
  readonly env?: Readonly<Record<string, string>>
  /** Makes standard output and error a terminal of this width. */
  readonly terminal?: number
  readonly now?: () => number
}

export interface Cli {
  (...argv: string[]): Promise<Result>
  readonly with: (options: RunOptions, ...argv: string[]) => Promise<Result>
  /** Runs a command with `--json` and returns the value. Throws on a non-zero exit status or output on standard error. */
  readonly json: (...argv: string[]) => Promise<never>
  /** Uses the library on the same store, to prepare or check it. */
  readonly use: <T>(work: (sessions: Sessions) => Promise<T>) => Promise<T>
}

/** Provides stores `mem:NAME` that keep their content between calls; `mem:` is the default. */
export function createCli(options: RunOptions = {}): Cli {
  const locations = new Map<string, MemoryLocation>()
  const open: StoreFactory = (name, _cwd, { maxSessionBytes }) => storageAt(locations, name, maxSessionBytes)
  const stores: Readonly<Record<string, StoreFactory>> = { file: (_name, ...o) => open("", ...o), mem: open }
  const call = async (more: RunOptions, argv: readonly string[]): Promise<Result> => {
    const { io, stdout, stderr } = captured({ ...options, ...more })
    const exit = await run(argv, io, stores)
    return { exit, stdout: stdout(), stderr: stderr() }
  }
  return Object.assign(async (...argv: string[]) => await call({}, argv), {
    with: async (more: RunOptions, ...argv: string[]) => await call(more, argv),
    json: async (...argv: string[]) => {
      const { exit, stdout, stderr } = await call({}, [...argv, "--json"])
      if (exit !== 0 || stderr !== "") throw new Error(`sessions ${argv.join(" ")} ended with ${exit}: ${stderr}`)
      return JSON.parse(stdout) as never
    },
    use: async <T>(work: (sessions: Sessions) => Promise<T>) => {
      const sessions = createSessions({ storage: storageAt(locations, "") })
      try {
        return await work(sessions)
      } finally {
        await sessions.close()
      }
    },
  })
}

/** An `Io` that reads from and writes to strings. */
export function captured(options: RunOptions): { io: Io; stdout: () => string; stderr: () => string } {
  const { stdin = "", cwd = "/project", env = {}, terminal, now = Date.now, program } = options
  const sink = (): { sink: Sink; text: () => string } => {
    let text = ""
    const write = async (chunk: string): Promise<void> => {
      text += chunk
    }
    const columns = terminal === undefined ? {} : { columns: terminal }
    return { sink: { write, isTerminal: terminal !== undefined, ...columns }, text: () => text }
  }
  const out = sink()
  const err = sink()
  const io: Io = {
    stdout: out.sink,
    stderr: err.sink,
    stdin: chunks(stdin),
    cwd,
    env,
    now,
    ...(program !== undefined && { program }),
  }
  return { io, stdout: out.text, stderr: err.text }
}

function storageAt(
  locations: Map<string, MemoryLocation>,
  name: string,
  maxSessionBytes = 200_000_000,
): SessionStorage {
  const location = locations.get(name) ?? createMemoryLocation()
  locations.set(name, location)
  return createMemoryStorage({ location, limits: { maxSessionBytes } })
}

async function* chunks(text: string): AsyncIterable<Uint8Array> {
  if (text !== "") yield new TextEncoder().encode(text)
}
