/** Finds the format of a file by its content. */
import { SessionError } from "@sessions/core"
import type { Format } from "./base/format.ts"
import { START_UNITS, startOf } from "./base/start.ts"
import { foreignFile } from "./unsupported.ts"

export interface Rejection {
  readonly format: string
  /** The end of a sentence that begins with "it". */
  readonly reason: string
}

export type Identified = { readonly format: Format } | Unidentified

export interface Unidentified {
  readonly format?: undefined
  readonly rejected: readonly Rejection[]
  /** The file is of a program that no format reads: the end of a sentence that begins with "The file is". */
  readonly foreign?: string
}

/** The first format that the beginning of a file is of, or why it is of none of them. */
export function identify(start: string, formats: readonly Format[]): Identified {
  const text = start.replace(/^\uFEFF/, "").slice(0, START_UNITS)
  const encoding = encodingOf(start)
  if (encoding !== undefined) return { rejected: [], foreign: `in ${encoding}, and is read in UTF-8 only` }
  const parsed = startOf(text)
  const foreign = foreignFile(parsed)
  if (foreign !== undefined) return { rejected: [], foreign }
  const rejected: Rejection[] = []
  for (const format of formats) {
    const reason = format.rejects(parsed)
    if (reason === undefined) return { format }
    rejected.push({ format: format.format, reason })
  }
  return { rejected }
}

/** `not_a_session`, with the formats that were tried and the reason of each. */
export function notASessionError({ rejected, foreign }: Unidentified): SessionError {
  if (foreign !== undefined) return new SessionError("not_a_session", `The file is ${foreign}.`)
  const tried = rejected.map(({ format, reason }) => `${format}: it ${reason}`).join("; ")
  return new SessionError("not_a_session", `The file is in none of the known formats. ${tried}.`)
}

/** PowerShell writes UTF-16 with `>`. Read as UTF-8, every other character of it is NUL. */
function encodingOf(start: string): string | undefined {
  const text = start.slice(0, 400)
  const nuls = text.split("\0").length - 1
  return nuls > 20 && nuls > text.length / 3 ? "UTF-16" : undefined
}
