/** Reading lines, in pieces, with the memory of two pieces whatever the log's length. */
import { join } from "node:path"
import {
  checkSignal,
  type Chunk,
  type CheckedRange,
  MAX_CHUNK_BYTES,
  type Seq,
  StorageError,
} from "@sessions/core/storage"
import { decodeLines } from "./decode.ts"
import type { Environment } from "./environment.ts"
import { READ } from "./files.ts"
import { readIdentity } from "./identity.ts"
import { locate } from "./locate.ts"
import type { LogView, Part } from "./view.ts"

/** The lines of a range in log order. See `SessionStorage.read`. */
export async function* readLines(
  env: Environment,
  session: string,
  range: CheckedRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const view = env.view(session)
  if (view === undefined) return
  const to = Math.min(range.last === undefined ? range.to : range.before, view.next)
  const from = range.last === undefined ? range.from : Math.max(0, to - range.last)
  if (from >= to) return
  let seq = from
  for (const part of view.parts) {
    if (part.end.seq <= seq && part.end.seq !== part.from) continue
    if (part.from >= to) break
    if (part.from > seq) throw missing(env, session, view, part, seq)
    for await (const chunk of readPart(env, session, view, part, seq, Math.min(to, part.end.seq), signal)) {
      seq = chunk.from + chunk.lines.length
      yield chunk
      checkSignal(signal)
    }
  }
  if (seq < to) throw missing(env, session, view, undefined, seq)
  checkSame(env, session, view)
}

async function* readPart(
  env: Environment,
  session: string,
  view: LogView,
  part: Part,
  from: Seq,
  to: Seq,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const { files } = env
  const path = join(view.folder, part.name)
  let fd: number
  try {
    fd = files.open(path, READ)
  } catch (error) {
    checkSame(env, session, view)
    throw env.error(error, "read the log", session, path)
  }
  try {
    checkSame(env, session, view)
    const { start, end } = locate(files, fd, part, from, to)
    let seq = from
    let at = start
    let size = Math.min(MAX_CHUNK_BYTES, end - start)
    while (at < end) {
      checkSignal(signal)
      const buffer = Buffer.allocUnsafe(Math.min(size, end - at))
      const count = await files.readAsync(fd, buffer, 0, buffer.length, at)
      const last = buffer.subarray(0, count).lastIndexOf(LF)
      if (count === 0) throw missing(env, session, view, part, seq)
      if (last < 0) {
        size *= 2
        continue
      }
      const first = size > MAX_CHUNK_BYTES ? buffer.indexOf(LF) : last
      const lines = decodeLines(buffer.subarray(0, first), () => ({ session, at: path, offset: at }))
      checkSame(env, session, view)
      yield { from: seq, lines }
      seq += lines.length
      at += first + 1
      size = MAX_CHUNK_BYTES
    }
  } finally {
    files.close(fd)
  }
}

const LF = 10

function checkSame(env: Environment, session: string, view: LogView): void {
  if (readIdentity(env.files, view.folder)?.log === view.log) return
  if (env.view(session)?.log === view.log) return
  throw new StorageError("conflict", `Session ${session} was deleted or replaced while it was read: read it again.`, {
    session,
  })
}

function missing(env: Environment, session: string, view: LogView, part: Part | undefined, seq: Seq): StorageError {
  checkSame(env, session, view)
  const where = part === undefined ? "at its end" : `before ${part.name}`
  return new StorageError("corrupt", `Session ${session} has no line ${seq}: a part is missing or was cut, ${where}.`, {
    session,
    at: view.folder,
  })
}
