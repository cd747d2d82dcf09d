/** Small reads, piece by piece, keeping what the next read is likely to want: a session is resumed in steps from its end. */
import { segmentKey } from "../segments/segments.ts"
import { startDownload } from "./download.ts"
import type { Stretch } from "./plan.ts"
import { piecesOf } from "./plan.ts"
import type { ReadHost } from "./read.ts"

/** The pieces of each stretch, in order. What is not at hand is fetched at once, with one request a stretch. */
export async function fetchPieces(
  host: ReadHost,
  session: string,
  life: string,
  stretches: readonly Stretch[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Uint8Array[])[]> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener("abort", abort)
  try {
    return await Promise.all(stretches.map((stretch) => fetchStretch(host, session, life, stretch, controller.signal)))
  } finally {
    signal?.removeEventListener("abort", abort)
    controller.abort()
  }
}

async function fetchStretch(
  { env, pieces: cache }: ReadHost,
  session: string,
  life: string,
  stretch: Stretch,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const key = segmentKey(env, session, life, stretch.segment)
  const pieces = piecesOf(stretch.segment).filter(({ seq }) => seq >= stretch.seq && seq < stretch.seq + stretch.lines)
  const missing = pieces.filter(({ at }) => cache.get(`${key} ${at}`) === undefined)
  const [first] = missing
  const last = missing.at(-1)
  const held = new Map(pieces.map(({ at }) => [at, cache.get(`${key} ${at}`)]))
  if (first !== undefined && last !== undefined) {
    const wanted = { ...stretch, seq: first.seq, at: first.at, bytes: last.at + last.bytes - first.at }
    const bytes = await whole(startDownload(env, session, life, wanted, signal).bytes(), wanted.bytes)
    for (const piece of pieces) {
      if (piece.at < first.at || piece.at > last.at) continue
      const content = bytes.slice(piece.at - first.at, piece.at - first.at + piece.bytes)
      held.set(piece.at, content)
      cache.set(`${key} ${piece.at}`, content, content.length)
    }
  }
  return pieces.map(({ at }) => held.get(at) as Uint8Array)
}

async function whole(pieces: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const all = new Uint8Array(length)
  let at = 0
  for await (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
