import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Chunk, Head, ReadRange, SessionStorage } from "@sessions/core/storage"
import { onTestFinished } from "vitest"
import { createFileStorage, type FileStorageOptions } from "../src/index.ts"
import { createFaultyFiles, type FaultyFiles } from "./faulty-files.ts"

/** An empty folder that goes when the test ends. In memory where the system has such a place: what is tested is not the disk. */
export function makeRoot(): string {
  const root = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-fs-test-"))
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }))
  return root
}

export interface Opened {
  readonly storage: SessionStorage
  readonly files: FaultyFiles
}

/** A storage whose file operations can be interfered with; disposed of when the test ends. */
export function openAt(root: string, options: Omit<FileStorageOptions, "root" | "files"> = {}): Opened {
  const files = createFaultyFiles()
  const storage = createFileStorage({ ...options, root, files })
  onTestFinished(async () => {
    // One that still fails stands for a process that has ended; nobody disposes of its storage.
    if (files.fault === undefined) await storage[Symbol.asyncDispose]()
  })
  return { storage, files }
}

export async function linesOf(storage: SessionStorage, session: string, range?: ReadRange): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(session, range)) lines.push(...chunk.lines)
  return lines
}

/** Of ASCII lines, with an LF each. */
export function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}

/** The lines of a window at the end of these: ASCII, with an LF each. */
export function linesIn(lines: readonly string[], maxBytes: number): readonly string[] {
  let bytes = 0
  const first = lines.findLastIndex((line) => (bytes += line.length + 1) > maxBytes)
  return lines.slice(Math.min(first + 1, Math.max(0, lines.length - 1)))
}

export async function* chunked(...chunks: readonly (readonly string[])[]): AsyncGenerator<Chunk> {
  let from = 0
  for (const lines of chunks) {
    yield { from, lines }
    from += lines.length
  }
}

/** `count` lines in as many appends; the first makes the session. */
export async function fill(storage: SessionStorage, session: string, count: number, pad = 0): Promise<Head> {
  let head = await storage.append(session, [lineAt(0, pad)], { expect: 0 })
  for (let seq = 1; seq < count; seq++) head = await storage.append(session, [lineAt(seq, pad)], { expect: head })
  return head
}

export function lineAt(seq: number, pad = 0): string {
  return JSON.stringify({ seq, pad: "x".repeat(pad) })
}

export function linesTo(count: number, pad = 0): string[] {
  return Array.from({ length: count }, (_, seq) => lineAt(seq, pad))
}

/** Paths of the files below a folder, in order. */
export function filesBelow(root: string): string[] {
  return fs
    .readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}
