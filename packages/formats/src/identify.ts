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
  if (encoding !== undefined) return { rejected: [], foreign: `${encoding}, and only UTF-8 is read` }
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

/** PowerShell writes UTF-16 with `>`. Read as UTF-8, every other character of it is NUL; those of a program or an archive are anywhere. */
function encodingOf(start: string): string | undefined {
  const text = start.slice(0, 400)
  const nuls = [...text.matchAll(/\0/g)].map(({ index }) => index)
  if (nuls.length <= 20 || nuls.length <= text.length / 3) return undefined
  const odd = nuls.filter((index) => index % 2 === 1).length
  return Math.min(odd, nuls.length - odd) < nuls.length / 10 ? "in UTF-16" : "no text"
}
