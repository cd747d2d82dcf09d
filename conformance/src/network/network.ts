/** A `fetch` between a client and its server, on which requests meet other answers. */
import type { Meet } from "../subject.ts"
import { type Answer, answers } from "./answers.ts"

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Network {
  readonly fetch: Fetch
  /** Lets the requests arrive that are still on their way. Resolves when they are done. */
  readonly arrive: () => Promise<void>
}

/** The methods that read. Any other may write. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"])

/** Throws a TypeError if `meet` returns a name that is not one of {@link answers}. */
export function createNetwork(fetch: Fetch, meet: Meet): Network {
  const late: (() => Promise<unknown>)[] = []
  return {
    async fetch(url, { signal, ...init }) {
      const name = meet({ writes: !READS.has(init.method ?? "GET") })
      if (name === undefined) return fetch(url, { ...init, ...(signal !== undefined && { signal }) })
      // Without the signal: a request goes on when its client has gone.
      const send = (): Promise<Response> => fetch(url, init)
      const gone = aborted(signal ?? undefined)
      const answer = answerOf(name)({
        send,
        never: () => gone,
        arriveLater: () => void late.push(async () => (await send()).arrayBuffer()),
      })
      return Promise.race([answer, gone])
    },
    async arrive() {
      for (const deliver of late.splice(0)) await deliver().catch(() => undefined)
    },
  }
}

function answerOf(name: string): Answer {
  const answer = answers[name]
  if (answer === undefined) throw new TypeError(`There is no answer named ${name}.`)
  return answer
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal?.reason as Error)
    if (signal?.aborted === true) fail()
    signal?.addEventListener("abort", fail)
  })
}
