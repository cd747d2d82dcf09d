/** The sessions, the memory and the journal of a place, as the processes that are killed and the one that looks open them. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions, type Session, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import {
  type Consolidation,
  createConsolidation,
  createDocumentMemory,
  createRecall,
  type MemoryFiles,
  type MemoryStore,
  type Recall,
} from "../../src/index.ts"
import { folderMemoryOn } from "../../src/node/folder.ts"
import { SYSTEM } from "../../src/node/system.ts"

export interface Plan {
  readonly place: string
  readonly kind: "folder" | "documents"
  readonly round: number
  /** Of the process, and of its session. */
  readonly name: string
  /** The process kills itself before this step. */
  readonly killAt: number
}

/** What a process writes down after each call, synchronously, so that it survives a kill. */
export type Note =
  | { readonly note: "extracted"; readonly facts: readonly string[] }
  | { readonly note: "consolidated"; readonly skipped: string | null; readonly round: number; readonly name: string }

export interface World {
  readonly sessions: Sessions
  readonly session: Session
  readonly files: MemoryFiles
  readonly recall: Recall
  readonly consolidation: Consolidation
}

export const INDEX = "MEMORY.md"
export const BY_HAND = "# By hand\r\n\r\nkeep this line"
const SCOPE = "/project"
const START = Date.parse("2026-11-22T12:00:00.000Z")
/** So that the lock of a killed process is stale in the next round. */
const ROUND_MS = 2 * 3_600_000

/** `step` is called before each call of the file system, or before and after each call on documents. */
export async function openWorld({ place, kind, round, name }: Plan, step: () => void): Promise<World> {
  const storage = createFileStorage({ root: join(place, "store") })
  const sessions = createSessions({ storage })
  const session = await sessions.openOrCreate(`${name}-${round}`, { cwd: SCOPE })
  if ((await session.info()).messageCount === 0) {
    await session.append([
      { type: "message", message: { role: "user", content: "remember this" } },
      { type: "message", message: { role: "assistant", content: "done" } },
    ])
  }
  const store: MemoryStore =
    kind === "folder"
      ? folderMemoryOn(stepping(SYSTEM, step, false), join(place, "memory"))
      : createDocumentMemory({ ...storage, docs: stepping(storage.docs, step, true) } satisfies SessionStorage)
  const now = (): number => START + round * ROUND_MS
  const facts = [0, 1, 2].map((i) => ({ category: "ProjectFact", fact: `fact ${name} ${round} ${i}`, confidence: 1 }))
  const recall = createRecall({ files: store, scope: SCOPE, now, ask: async () => JSON.stringify(facts) })
  const consolidation = createConsolidation({
    sessions,
    files: store,
    scope: SCOPE,
    now,
    run: async ({ phase, tools }) => {
      if (phase !== "consolidate") return
      for (;;) {
        const text = (await tools.readMemory(INDEX)) ?? ""
        const topic = (await tools.readMemory("topic.md")) ?? ""
        try {
          await tools.writeMemory("topic.md", `${topic}tidied in ${round}\n`)
          return await tools.writeMemory(INDEX, `${text.replace(/tidied in \d+\n$/, "")}tidied in ${round}\n`)
        } catch (error) {
          if ((error as { code?: unknown }).code !== "conflict") throw error
        }
      }
    },
  })
  return { sessions, session, files: store.of(SCOPE), recall, consolidation }
}

export function note(place: string, one: Note): void {
  fs.appendFileSync(join(place, "journal"), `${JSON.stringify(one)}\n`)
}

export function notesOf(place: string): readonly Note[] {
  const path = join(place, "journal")
  const lines = fs.existsSync(path) ? fs.readFileSync(path, "utf8").split("\n") : []
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Note)
}

/** The same functions with steps before them, and after those that return a promise. */
function stepping<T extends object>(calls: T, step: () => void, isAsync: boolean): T {
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
