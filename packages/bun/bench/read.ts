/** Replay through the contract: every line of a log of 60 MB read and parsed. */
import { closeSync, openSync, readSync, statSync } from "node:fs"
import { isUtf8 } from "node:buffer"
import { join } from "node:path"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type DecodeLines, type Files, nodeFiles } from "@sessions/fs"
import { createBunStorage } from "@sessions/bun"
import { contents, lineOf } from "./data.ts"
import type { Group, Way } from "./report.ts"

const BYTES = 60_000_000

export const readGroups: readonly Group[] = Object.entries(contents).map(([title, content]) => ({
  title: `replay of ${title}`,
  prepare: (root) => fill(root, content),
  ways: waysOf,
  show: (seconds, root) => `${(statSync(logOf(root)).size / 1e6 / seconds).toFixed(0)} MB/s`,
}))

function waysOf(root: string): readonly Way[] {
  const through = (name: string, storage: SessionStorage): Way => ({ name, run: () => replay(storage) })
  const decoding = (name: string, decodeLines: DecodeLines) => through(name, createFileStorage({ root, decodeLines }))
  const reading = (name: string, readAsync: Files["readAsync"]) =>
    through(name, createFileStorage({ root, files: { ...nodeFiles, readAsync } }))
  return [
    through("`@sessions/fs`", createFileStorage({ root })),
    through("**`@sessions/bun`**", createBunStorage({ root })),
    decoding("decoding: a `toString` a line", decodeEach),
    decoding("decoding: one `toString`, a split", decodeAll),
    reading("reading: `Bun.file(fd).slice().bytes()`", readWithBun),
    reading("reading: `Bun.mmap`", readMapped(logOf(root))),
    reading("reading: `readSync`", async (...args) => nodeFiles.read(...args)),
    { name: "no storage: `readSync`, LF, `JSON.parse`", run: () => rawLoop(logOf(root)) },
    { name: "no storage: `readSync`, `Bun.JSONL.parse`", run: () => rawJsonl(logOf(root)) },
  ]
}

async function fill(root: string, content: (seq: number) => unknown): Promise<void> {
  const storage = createFileStorage({ root, maxPartBytes: 2 * BYTES })
  let head: Head | 0 = 0
  for (let bytes = 0; bytes < BYTES; ) {
    const from: number = head === 0 ? 0 : head.next
    const lines = Array.from({ length: 100 }, (_, i) => lineOf(content, from + i))
    head = await storage.append("a", lines, { expect: head })
    for (const line of lines) bytes += Buffer.byteLength(line) + 1
  }
  await storage[Symbol.asyncDispose]()
}

function logOf(root: string): string {
  return join(root, "a", "session.jsonl")
}

async function replay(storage: SessionStorage): Promise<void> {
  let next = 0
  for await (const chunk of storage.read("a")) for (const line of chunk.lines) next = check(JSON.parse(line), next)
}

function rawLoop(path: string): void {
  let next = 0
  eachPiece(path, (bytes) => {
    let start = 0
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      next = check(JSON.parse(bytes.toString("utf8", start, end)), next)
      start = end + 1
    }
    next = check(JSON.parse(bytes.toString("utf8", start)), next)
  })
}

function rawJsonl(path: string): void {
  let next = 0
  eachPiece(path, (bytes) => {
    for (const value of Bun.JSONL.parse(bytes)) next = check(value, next)
  })
}

/** Pieces of whole lines without the last LF. */
function eachPiece(path: string, use: (bytes: Buffer) => void): void {
  const fd = openSync(path, "r")
  const piece = Buffer.allocUnsafeSlow(262_144)
  for (let at = 0; ; ) {
    const have = piece.subarray(0, readSync(fd, piece, 0, piece.length, at))
    const last = have.lastIndexOf(LF)
    if (last < 0) break
    use(have.subarray(0, last))
    at += last + 1
  }
  closeSync(fd)
}

function check(record: unknown, next: number): number {
  if ((record as { seq: number }).seq !== next) throw new Error(`line ${next} is not there`)
  return next + 1
}

const LF = 10

function decodeEach(piece: Uint8Array): string[] | undefined {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
  if (!isUtf8(bytes)) return undefined
  const lines: string[] = []
  let start = 0
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
    lines.push(bytes.toString("utf8", start, end))
    start = end + 1
  }
  lines.push(bytes.toString("utf8", start))
  return lines
}

function decodeAll(piece: Uint8Array): string[] | undefined {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
  return isUtf8(bytes) ? bytes.toString("utf8").split("\n") : undefined
}

async function readWithBun(...[fd, into, offset, length, at]: Parameters<Files["readAsync"]>): Promise<number> {
  const bytes = await Bun.file(fd)
    .slice(at, at + length)
    .bytes()
  into.set(bytes, offset)
  return bytes.length
}

/** The file does not grow or shrink while it is measured; one that is cut under a mapping ends the process (SIGBUS). */
function readMapped(path: string): Files["readAsync"] {
  let mapped: Uint8Array | undefined
  return async (_, into, offset, length, at) => {
    mapped ??= Bun.mmap(path, { shared: true, size: statSync(path).size })
    const bytes = mapped.subarray(at, at + length)
    into.set(bytes, offset)
    return bytes.length
  }
}
