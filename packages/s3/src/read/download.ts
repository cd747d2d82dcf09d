/** A stretch on its way: fetched whether or not somebody takes it yet, given in the order of its bytes. */
import { segmentKey } from "../segments/segments.ts"
import type { Environment } from "../base/deps.ts"
import { storageError } from "../requests/errors.ts"
import { openObject } from "../requests/open-object.ts"
import type { Stretch } from "./plan.ts"

export interface Download {
  readonly stretch: Stretch
  /** Once. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>
  /** Everything has come. */
  readonly complete: boolean
}

/** The segment is not there any more: it was merged, or its log is gone. */
export class MissingSegment extends Error {
  override readonly name = "MissingSegment"
}

export function startDownload(
  env: Environment,
  session: string,
  life: string,
  stretch: Stretch,
  signal: AbortSignal,
): Download {
  const pieces: Uint8Array[] = []
  let state: { readonly ended: boolean; readonly error?: unknown } = { ended: false }
  let wake = (): void => undefined

  async function fetch(): Promise<void> {
    const { segment, at, bytes } = stretch
    const key = segmentKey(env, session, life, segment)
    const whole = at === 0 && bytes === segment.bytes
    const object = await openObject(env, key, whole ? {} : { range: { from: at, to: at + bytes } }, signal)
    if (object === undefined || object === "unchanged") throw new MissingSegment(key)
    if (object.size !== segment.bytes) {
      object.drop()
      const message = `${key} has ${object.size} bytes, not the ${segment.bytes} it was written with: somebody changed it. Put back the object as it was.`
      throw storageError(env, "corrupt", message, { session, at: key })
    }
    for await (const piece of object.bytes()) {
      pieces.push(piece)
      wake()
    }
  }

  fetch().then(
    () => end({ ended: true }),
    (error: unknown) => end({ ended: true, error }),
  )

  function end(how: typeof state): void {
    state = how
    wake()
  }

  return {
    stretch,
    async *bytes() {
      for (;;) {
        const piece = pieces.shift()
        if (piece !== undefined) yield piece
        else if (state.ended) break
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
      if ("error" in state) throw state.error
    },
    get complete() {
      return state.ended
    },
  }
}
