/** What one principal may use of a server of many: requests, open streams, and how slowly its bodies may come. */
import { StorageError } from "@sessions/core/storage"
import { Refusal } from "./refusal.ts"

export interface TenantLimits {
  /** Requests within a minute; one more is 429 with `Retry-After`. Default: any number. */
  readonly requestsPerMinute?: number
  /** Streams of events, and requests that wait for events, at a time; one more is 429. Default: any number. */
  readonly streams?: number
  /** Sessions; one more is 507 `quota`. Default: any number. */
  readonly sessions?: number
  /** Bytes of logs and blobs, and of documents that it writes itself; a write beyond them is 507 `quota`. Default: any number. */
  readonly bytes?: number
  /** The lowest rate of a body after its first 5 seconds; a slower one is 408, so that nobody holds a place with single bytes. Default: any. */
  readonly bodyBytesPerSecond?: number
}

/** Counts what tenants do. A tenant is the object that serves its principal, so what is counted of it goes with it. */
export interface Gate {
  /** Throws 429 if the minute is full. */
  readonly request: (tenant: object) => void
  /** Takes a stream, and returns what gives it back; 429 if all are taken. */
  readonly stream: (tenant: object) => () => void
}

interface Counts {
  requests: number
  /** Milliseconds since the epoch: when the requests are counted from zero again. */
  until: number
  streams: number
}

const MINUTE_MS = 60_000
/** Streams end when their clients go, so it is worth a look soon. */
const STREAM_RETRY_S = 5

export function createGate(limits: TenantLimits, now: () => number = Date.now): Gate {
  const { requestsPerMinute = Number.POSITIVE_INFINITY, streams = Number.POSITIVE_INFINITY } = limits
  const known = new WeakMap<object, Counts>()
  const countsOf = (tenant: object): Counts => {
    let counts = known.get(tenant)
    if (counts === undefined) known.set(tenant, (counts = { requests: 0, until: 0, streams: 0 }))
    return counts
  }
  return {
    request(tenant) {
      const counts = countsOf(tenant)
      const time = now()
      if (time >= counts.until) Object.assign(counts, { requests: 0, until: time + MINUTE_MS })
      if (++counts.requests > requestsPerMinute)
        throw tooMany(`${requestsPerMinute} requests within a minute`, Math.ceil((counts.until - time) / 1_000))
    },
    stream(tenant) {
      const counts = countsOf(tenant)
      if (counts.streams >= streams) throw tooMany(`${streams} streams at a time`, STREAM_RETRY_S)
      counts.streams++
      let isOpen = true
      return () => {
        if (isOpen) counts.streams--
        isOpen = false
      }
    },
  }
}

function tooMany(what: string, seconds: number): Refusal {
  const message = `The server allows ${what}. Try again later.`
  return new Refusal(429, "too_many_requests", message, { "retry-after": String(seconds) })
}

/** Throws `invalid` for a limit that is no whole number above 0. `call` names the function that got them. */
export function checkLimits(call: string, limits: object): void {
  for (const [limit, value] of Object.entries(limits)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      throw new StorageError("invalid", `${call}: \`limits.${limit}\` must be a whole number above 0.`)
  }
}
