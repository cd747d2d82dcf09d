/** A temporary folder for a test, with a store, files next to it, and the command on real files. */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions, type Sessions, type SessionsOptions } from "@sessions/core"
import { createFileStorage, type FileStorageOptions } from "@sessions/fs"
import { onTestFinished } from "vitest"
import { run } from "../../src/index.ts"
import { captured, type Result, type RunOptions } from "../harness.ts"

export interface Workspace {
  /** Contains all files of the test. */
  readonly root: string
  /** Current folder of the commands; the store is its `.sessions`. */
  readonly cwd: string
  readonly store: string
  /** Runs the command in this process, on the files of this folder. */
  readonly cli: (...argv: string[]) => Promise<Result>
  readonly cliWith: (options: RunOptions, ...argv: string[]) => Promise<Result>
  /** Opens the library on the same files; closed when the test ends. */
  readonly open: (o?: OpenOptions) => Sessions
  /** Writes a file below `cwd` and returns its name. */
  readonly file: (name: string, content: string | Uint8Array) => string
  /** Writes a log into the store as another program would, in one or more parts. */
  readonly writeLog: (id: string, ...parts: readonly Part[]) => string
  /** The stored log, all parts. */
  readonly log: (id: string) => Buffer
}

export interface OpenOptions {
  readonly files?: Omit<FileStorageOptions, "root">
  readonly sessions?: Omit<SessionsOptions, "storage">
}

export interface Part {
  readonly from: number
  readonly content: string | Uint8Array
}

export function createWorkspace(): Workspace {
  // In memory if the system has /dev/shm: these tests do not depend on the disk.
  const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-acceptance-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const cwd = join(root, "work")
  mkdirSync(cwd)
  const store = join(cwd, ".sessions")
  const cliWith = async (options: RunOptions, ...argv: string[]): Promise<Result> => {
    const { io, stdout, stderr } = captured({ cwd, ...options })
    const exit = await run(argv, io)
    return { exit, stdout: stdout(), stderr: stderr() }
  }
  return {
    root,
    cwd,
    store,
    cli: (...argv) => cliWith({}, ...argv),
    cliWith,
    open(o = {}) {
      const sessions = createSessions({ storage: createFileStorage({ root: store, ...o.files }), ...o.sessions })
      onTestFinished(() => sessions.close().catch(() => undefined))
      return sessions
    },
    file(name, content) {
      writeFileSync(join(cwd, name), content)
      return name
    },
    writeLog(id, ...parts) {
      mkdirSync(join(store, id), { recursive: true })
      for (const [index, { from, content }] of parts.entries()) {
        const name = index === 0 ? "session.jsonl" : `session_part${index + 1}.${from}.jsonl`
        writeFileSync(join(store, id, name), content)
      }
      return id
    },
    log: (id) => Buffer.concat(logFiles(join(store, id)).map((name) => readFileSync(join(store, id, name)))),
  }
}

function logFiles(folder: string): string[] {
  const from = (name: string): number => Number(/\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 0)
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort((a, b) => from(a) - from(b))
}

/** The content hash of every file below a folder, and the folders. */
export function contentsOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const pairs = entries.map((entry): [string, string] => {
    const path = join(entry.parentPath, entry.name)
    const content = entry.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "folder"
    return [path.slice(folder.length + 1), content]
  })
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Like `refusal`, but success with any output is accepted too. */
export function refusalOrSuccess(result: Result): string | undefined {
  return result.exit === 0 ? undefined : refusal(1, 2)(result)
}

/**
 * Checks an error: one of these exit statuses, empty standard output, one line of message, and below it indented lines if there are
 * details. Returns the problem, if any.
 */
export function refusal(...exits: readonly number[]): (result: Result) => string | undefined {
  return ({ exit, stdout, stderr }) => {
    if (!exits.includes(exit))
      return `exit ${exit}, not ${exits.join(" or ")}: ${stdout.slice(0, 300)}${stderr.slice(0, 300)}`
    if (stdout !== "") return `standard output: ${stdout.slice(0, 300)}`
    if (!/^sessions: [^\n]+\n(?: {2}[^\n]+\n)*$/.test(stderr)) return `not one line: ${stderr.slice(0, 600)}`
    const long = stderr.split("\n").find((line) => line.length > 600)
    if (long !== undefined) return `a line of ${long.length} characters: ${long.slice(0, 200)}`
    if (stderr.includes("unexpected error")) return stderr
    return undefined
  }
}
