/** One folder, its session and its journal, as the process that is killed and the one that looks open them. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions, type Session, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { type Checkpoints, createCheckpoints, type WorkFiles } from "../../src/index.ts"
import { SYSTEM } from "../../src/node/system.ts"
import { workFilesOn } from "../../src/node/work-files.ts"

/** What the process writes down before and after each step, synchronously, so that it survives a kill. */
export type Note =
  | { readonly note: "turn"; readonly message: string; readonly folder: Readonly<Record<string, string>> }
  | { readonly note: "begun" | "ended" }
  | { readonly note: "write"; readonly path: string; readonly content: string | null }
  | { readonly note: "rewind"; readonly target: string }

export interface World {
  readonly folder: string
  readonly files: WorkFiles
  readonly sessions: Sessions
  readonly session: Session
  readonly checkpoints: Checkpoints
}

/** Few, so that most turns evict one. */
const MAX_SNAPSHOTS = 3
const TEMPORARY = ".sessions-rewind-"

/** `step` is called before and after each call of the storage, and before each call of the file system. */
export async function openWorld(place: string, step: () => void): Promise<World> {
  const folder = join(place, "folder")
  fs.mkdirSync(folder, { recursive: true })
  const storage = withSteps(createFileStorage({ root: join(place, "store") }), step)
  const sessions = createSessions({ storage })
  const session = await sessions.openOrCreate("s")
  const files = workFilesOn(stepping(SYSTEM, step), folder)
  const checkpoints = createCheckpoints({ storage, files, maxSnapshots: MAX_SNAPSHOTS }).of(session)
  return { folder, files, sessions, session, checkpoints }
}

export function note(place: string, one: Note): void {
  fs.appendFileSync(join(place, "journal"), `${JSON.stringify(one)}\n`)
}

export function notesOf(place: string): readonly Note[] {
  const path = join(place, "journal")
  const lines = fs.existsSync(path) ? fs.readFileSync(path, "utf8").split("\n") : []
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Note)
}

/** Without the temporary files of killed writes, which a later write in their folder removes. */
export function contentsOf(folder: string): Record<string, string> {
  const paths = pathsIn(folder).filter((path) => !path.includes(TEMPORARY))
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), fs.readFileSync(path, "utf8")]))
}

/** The temporary files that a process left. */
export function leftBy(pid: number, folder: string): string[] {
  return pathsIn(folder).filter((path) => path.includes(`${TEMPORARY}${pid}-`))
}

function pathsIn(folder: string): string[] {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map((entry) => join(entry.parentPath, entry.name)).sort()
}

function withSteps(storage: SessionStorage, step: () => void): SessionStorage {
  return { ...storage, docs: stepping(storage.docs, step, true), blobs: stepping(storage.blobs, step, true) }
}

/** The same functions with steps before them, and after those that return a promise. */
function stepping<T extends object>(calls: T, step: () => void, isAsync = false): T {
  const wrapped = Object.entries(calls).map(([name, call]) => {
    if (typeof call !== "function") return [name, call]
    const run = (...args: unknown[]): unknown => {
      step()
      const result: unknown = (call as (...args: unknown[]) => unknown)(...args)
      if (!isAsync || !(result instanceof Promise)) return result
      return result.then((value: unknown) => {
        step()
        return value
      })
    }
    return [name, run]
  })
  return Object.fromEntries(wrapped) as T
}
