/** The keys of all objects in the bucket. Only tails are under `tails/`, so every key there is a session's. */
import { isSessionId } from "@sessions/core/storage"
import { isToken } from "./time.ts"

export interface Keys {
  /** Before all keys; ends in `/` unless it is empty. */
  readonly prefix: string
  readonly tails: string
  tail(session: string): string
  /** The session of a key under {@link tails}; undefined for a foreign object. */
  sessionOfTail(key: string): string | undefined
  readonly segments: string
  /** Prefix of a session's segments, in one generation or in all. */
  segmentsOf(session: string, generation?: string): string
  readonly sessionDocs: string
  docsOf(session: string, generation?: string): string
  /** Components of a key under {@link segments} or {@link sessionDocs}; undefined for a foreign object, which has another form. */
  partsOf(key: string): { readonly session: string; readonly generation: string; readonly name: string } | undefined
  readonly docs: string
  readonly blobs: string
  blob(hash: string): string
  readonly probes: string
  probe(token: string): string
  /** Whether a key under {@link probes} is that of a probe, not of a foreign object. */
  isProbe(key: string): boolean
}

/** `shard`: number of hex digits of the id's hash before each id. */
export function createKeys(prefix: string, shard: number): Keys {
  const root = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`
  const sharded = (session: string): string => (shard === 0 ? session : `${hashOf(session).slice(0, shard)}/${session}`)
  const under = (folder: string, session: string, generation: string | undefined): string =>
    `${folder}${sharded(session)}/${generation === undefined ? "" : `${generation}/`}`
  const [tails, segments, sessionDocs] = [`${root}tails/`, `${root}segments/`, `${root}session-docs/`]
  return {
    prefix: root,
    tails,
    tail: (session) => `${tails}${sharded(session)}`,
    sessionOfTail(key) {
      const session = key.slice(key.lastIndexOf("/") + 1)
      return isSessionId(session) && key === `${tails}${sharded(session)}` ? session : undefined
    },
    segments,
    segmentsOf: (session, generation) => under(segments, session, generation),
    sessionDocs,
    docsOf: (session, generation) => under(sessionDocs, session, generation),
    partsOf(key) {
      const [name = "", generation = "", session = ""] = key.split("/").toReversed()
      if (!isSessionId(session) || !isToken(generation)) return undefined
      const isSegment = isToken(name) && key === `${under(segments, session, generation)}${name}`
      const isDoc = name !== "" && key === `${under(sessionDocs, session, generation)}${name}`
      return isSegment || isDoc ? { session, generation, name } : undefined
    },
    docs: `${root}docs/`,
    blobs: `${root}blobs/`,
    blob: (hash) => `${root}blobs/${hash.slice(0, 2)}/${hash}`,
    probe: (token) => `${root}probes/${token}`,
    isProbe: (key) => key.startsWith(`${root}probes/`) && isToken(key.slice(`${root}probes/`.length)),
    probes: `${root}probes/`,
  }
}

/** FNV-1a, as 8 hex digits: spreads ids with a common beginning, such as ULIDs of one moment. */
function hashOf(id: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}
