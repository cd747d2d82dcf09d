/** Downloads a range of a segment in the background and hands out its bytes in order. */
import type { Deps } from "../base/deps.ts"
import { storageError } from "../requests/errors.ts"
import { openObject } from "../requests/open-object.ts"
import { segmentKey } from "../segments/segments.ts"
import type { SegmentRange } from "./segment-ranges.ts"

export interface Download {
  readonly range: SegmentRange
  /** Can be read once. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>
}

/** The segment does not exist any more: it was merged into another one, or its log was deleted or replaced. */
export class SegmentMissingError extends Error {
  override readonly name = "SegmentMissingError"
}

export function startDownload(
  deps: Deps,
  session: string,
  generation: string,
  range: SegmentRange,
  signal: AbortSignal,
): Download {
  const received: Uint8Array[] = []
  let state: { readonly ended: boolean; readonly error?: unknown } = { ended: false }
  let wake = (): void => undefined

  async function fetch(): Promise<void> {
    const { segment, at, bytes } = range
    const key = segmentKey(deps, session, generation, segment)
    const isWhole = at === 0 && bytes === segment.bytes
    const object = await openObject(deps, key, isWhole ? {} : { range: { from: at, to: at + bytes } }, signal)
    if (object === undefined || object === "unchanged") throw new SegmentMissingError(key)
    if (object.size !== segment.bytes) {
      object.cancel()
      const message = `${key} has ${object.size} bytes instead of the ${segment.bytes} that were written: it was changed from outside. Put back the object as it was.`
      throw storageError(deps, "corrupt", message, { session, at: key })
    }
    for await (const part of object.bytes()) {
      received.push(part)
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
    range,
    async *bytes() {
      for (;;) {
        const part = received.shift()
        if (part !== undefined) yield part
        else if (state.ended) break
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
      if ("error" in state) throw state.error
    },
  }
}
