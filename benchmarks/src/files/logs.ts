/** Session logs on files, written once in a run and shared by its scenarios. */
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { createStorage } from "./storage.ts"
import { turn } from "../data.ts"

export interface StoredLog {
  readonly root: string
  readonly session: string
}

export interface LogOptions {
  readonly bytes: number
  /** Compacted at the end, so that about 100 KB are live. */
  readonly compacted: boolean
}

const folder = join(tmpdir(), `sessions-bench-logs-${process.pid}`)
const made = new Map<string, Promise<StoredLog>>()
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))

export function storedLog(options: LogOptions): Promise<StoredLog> {
  const key = `${options.bytes}-${options.compacted ? "compacted" : "plain"}`
  const log = made.get(key) ?? make(join(folder, key), options)
  made.set(key, log)
  return log
}

async function make(root: string, { bytes, compacted }: LogOptions): Promise<StoredLog> {
  if (!existsSync(root)) mkdirSync(root, { recursive: true })
  const sessions = createSessions({ storage: createStorage({ root, maxSessionBytes: 4e9 }) })
  const session = await sessions.create()
  for (let i = 0; (await session.parts()).bytes < bytes; i += 250) {
    await session.append(Array.from({ length: 250 }, (_, k) => turn(i + k)).flat())
  }
  if (compacted) await compact(session, { summarize: async () => "## Goal\nKeep going.", keepRecentTokens: 22_000 })
  await sessions.close()
  return { root, session: session.id }
}
