/** The file of an import: opened as lines that can be read repeatedly, and identified by its first lines. */
import { SessionError } from "../../format/errors.ts"
import { checkIdentity, identifyLog } from "../../format/identify.ts"
import { type ReadLine, readLines } from "../../format/jsonl.ts"
import { parseLine } from "../../format/line.ts"
import { FORMAT } from "../../format/header.ts"
import type { ImportFormat, ImportSource } from "../types.ts"
import { shown } from "../../storage/options.ts"
import { isBytes } from "../../storage/realm.ts"
import { checkSignal } from "../../storage/signals.ts"
import type { Seq } from "../../storage/contract.ts"

/** The lines from the beginning, at each call. */
export type LineSource = () => AsyncIterable<ReadLine>

type Chunk = Uint8Array | string

/** The pieces of the file from the beginning, at each call. */
export type ChunkSource = () => AsyncIterable<Chunk> | Iterable<Chunk>

/** Keeps a source that can be read only once in memory. */
export async function openSource(source: ImportSource, signal?: AbortSignal): Promise<ChunkSource> {
  if (typeof source === "function") return () => chunksOf(source())
  if (typeof source === "string" || isBytes(source)) return () => [source]
  const chunks: Chunk[] = []
  for await (const chunk of chunksOf(source)) {
    checkSignal(signal)
    // Copied because a source may reuse its buffer.
    chunks.push(typeof chunk === "string" ? chunk : chunk.slice())
  }
  return () => chunks
}

export function linesOf(chunks: ChunkSource): LineSource {
  return () => readLines(chunks())
}

/** The chunks of a source; throws `invalid` for a source or a chunk of a wrong type. */
async function* chunksOf(source: AsyncIterable<Chunk>): AsyncGenerator<Chunk, void, undefined> {
  const isIterable = Symbol.asyncIterator in Object(source) || Symbol.iterator in Object(source)
  if (!isIterable) throw notASourceError(source)
  for await (const chunk of source) {
    if (typeof chunk !== "string" && !isBytes(chunk)) throw notASourceError(chunk)
    yield chunk
  }
}

function notASourceError(value: unknown): SessionError {
  const message = `The source of an import must be text, a Uint8Array, an AsyncIterable of both, or a function that returns one, not ${shown(value)}.`
  return new SessionError("invalid", message)
}

/**
 * The header line of a log of this version; undefined for an older log. Reads only as many lines as identify the file; the migration
 * finds out which system wrote an older log. Throws `not_a_session` and `newer_version`.
 */
export async function identifySource(source: LineSource): Promise<string | undefined> {
  const first: string[] = []
  for await (const { line, problem } of source()) {
    // A line that is not text does not identify the file, but the file is not empty either.
    const text = line ?? UNREADABLE
    const { record } = parseLine(text)
    const identifies = record !== undefined && record.type !== "title"
    // `identifyLog` needs the title slots and the first of the other lines before the header.
    if (identifies || record !== undefined || (text.trim() !== "" && !first.some(isStray))) first.push(text)
    if (identifies || problem === "too_long") break
  }
  const identity = identifyLog(first)
  checkIdentity(identity, "The file")
  return identity.kind === "sessions" ? first.at(-1) : undefined
}

/** `not_a_session` if the caller named another format than the file has. */
export function checkFormat(expected: ImportFormat | undefined, format: string): void {
  const found = format === FORMAT ? "sessions" : format
  if (expected === undefined || expected === "auto" || expected === found) return
  throw otherFormatError(expected, `It is in "${found}": give that, or "auto".`)
}

export function otherFormatError(expected: string, advice: string): SessionError {
  return new SessionError("not_a_session", `The file is not in the format "${expected}". ${advice}`)
}

/** The first record that is not a title slot; `identifySource` has found that it is a header. */
export function isHeader({ line }: ReadLine): boolean {
  const record = line === undefined ? undefined : parseLine(line).record
  return record !== undefined && record.type !== "title"
}

/** Throws `too_large` for a line that no string can hold. */
export function textOf({ line, bytes, at }: ReadLine, seq: Seq): string {
  if (line !== undefined) return line
  const message = `Line ${seq} of the log, at byte ${at} of the file, has ${bytes} bytes: more than this runtime can hold. Nothing was written.`
  throw new SessionError("too_large", message)
}

/** Prefix of the placeholder for a line that is not text. It contains a line feed, so that no line of a file can equal it. */
export const UNREADABLE = "\n#"

function isStray(line: string): boolean {
  return parseLine(line).record === undefined
}
