import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Head, ReadRange, SessionStorage } from "@sessions/core/storage"
import { createSqliteStorage, type SqliteDatabase, type SqliteStorageOptions } from "@sessions/sqlite"
import { onTestFinished } from "vitest"
import { openDatabase } from "../src/driver/library.ts"

/** A path in an empty folder that goes when the test ends. */
export function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "sessions-sqlite-test-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "sessions.db")
}

/** A storage that is disposed of when the test ends. Without syncs: what is tested is not the disk. */
export function openAt(path: string, options: Omit<SqliteStorageOptions, "path"> = {}): SessionStorage {
  const storage = createSqliteStorage({ durability: "os", ...options, path })
  onTestFinished(() => storage[Symbol.asyncDispose]())
  return storage
}

/** A connection of another program; closed when the test ends. */
export function connectTo(path: string, open: (path: string) => SqliteDatabase = openDatabase): SqliteDatabase {
  const database = open(path)
  onTestFinished(() => void database.close())
  return database
}

export async function linesOf(storage: SessionStorage, session: string, range?: ReadRange): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(session, range)) lines.push(...chunk.lines)
  return lines
}

/** `count` lines in as many appends; the first makes the session. */
export async function fill(storage: SessionStorage, session: string, count: number, pad = 0): Promise<Head> {
  let head: Head | 0 = 0
  for (let n = 0; n < count; n++) head = await storage.append(session, [lineAt(n, pad)], { expect: head })
  return head as Head
}

export function lineAt(n: number, pad = 0): string {
  return JSON.stringify({ n, pad: "x".repeat(pad) })
}

export function linesTo(count: number, pad = 0): string[] {
  return Array.from({ length: count }, (_, n) => lineAt(n, pad))
}

/** A file whose commits go through `around`. */
export function openWithCommits(path: string, around: (commit: () => unknown) => unknown): SqliteDatabase {
  const database = openDatabase(path)
  return {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      if (sql !== "COMMIT") return statement
      const run = (): { changes: number } => {
        around(() => statement.run())
        return { changes: 0 }
      }
      return { get: run, all: () => [], iterate: () => [], run }
    },
  }
}
