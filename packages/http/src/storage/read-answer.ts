/** Reads the body of an answer to its end, and makes sure that it is the handler's: a page with status 200 proves nothing. */
import type { Head, HeadInfo } from "@sessions/core/storage"
import { bytesOf } from "../bytes.ts"
import { kindOf } from "../provenance.ts"
import { decode } from "./protocol.ts"
import type { Read } from "./requests.ts"

/** The body as JSON, if `is` accepts it. */
export function json<T>(is: (value: Partial<T>) => unknown): Read<T> {
  return async (response, alive) => {
    const bytes = await bytesOf(response, alive)
    let value: unknown
    try {
      value = JSON.parse(decode(bytes))
    } catch {
      throw foreign(response)
    }
    if (typeof value !== "object" || value === null || is(value) !== true) throw foreign(response)
    return value as T
  }
}

/** The end of a write that has no result. */
export const done: Read<{ readonly done: true }> = json((value) => value.done === true)

export function isHead({ next, log }: Partial<Head>): boolean {
  return isCount(next) && next > 0 && typeof log === "string"
}

export function isHeadInfo(head: Partial<HeadInfo>): boolean {
  return isHead(head) && isCount(head.bytes) && typeof head.updatedAt === "number"
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function foreign(response: Response): Error {
  return new Error(`the answer is not that of a storage handler, but ${kindOf(response)}`)
}
