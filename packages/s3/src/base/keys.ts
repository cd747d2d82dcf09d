/** Where things lie in the bucket. Nothing but a tail lies under `tails/`, so no name there can be taken for a session's. */
import { isSessionId } from "@sessions/core/storage"

export interface Keys {
  /** Under which all keys lie; ends in `/` unless it is empty. */
  readonly prefix: string
  readonly tails: string
  tail(session: string): string
  /** The session of a key under {@link tails}; undefined for what was put there by somebody else. */
  sessionOfTail(key: string): string | undefined
  readonly segments: string
  /** Of one session; of one of its lives. */
  segmentsOf(session: string, life?: string): string
  readonly sessionDocs: string
  docsOf(session: string, life?: string): string
  /** The session, and the name that follows its life, of a key under {@link segments} or {@link sessionDocs}. */
  partsOf(key: string): { readonly session: string; readonly life: string; readonly name: string } | undefined
  readonly docs: string
  readonly blobs: string
  blob(hash: string): string
  readonly probes: string
}

/** `shard`: how many hex digits of the id's hash stand before it. */
export function createKeys(prefix: string, shard: number): Keys {
  const root = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`
  const place = (session: string): string => (shard === 0 ? session : `${hashOf(session).slice(0, shard)}/${session}`)
  const under = (folder: string, session: string, life: string | undefined): string =>
    `${folder}${place(session)}/${life === undefined ? "" : `${life}/`}`
  const [tails, segments, sessionDocs] = [`${root}tails/`, `${root}segments/`, `${root}session-docs/`]
  return {
    prefix: root,
    tails,
    tail: (session) => `${tails}${place(session)}`,
    sessionOfTail(key) {
      const session = key.slice(key.lastIndexOf("/") + 1)
      return isSessionId(session) && key === `${tails}${place(session)}` ? session : undefined
    },
    segments,
    segmentsOf: (session, life) => under(segments, session, life),
    sessionDocs,
    docsOf: (session, life) => under(sessionDocs, session, life),
    partsOf(key) {
      const [name = "", life = "", session = ""] = key.split("/").toReversed()
      return isSessionId(session) && life !== "" && name !== "" ? { session, life, name } : undefined
    },
    docs: `${root}docs/`,
    blobs: `${root}blobs/`,
    blob: (hash) => `${root}blobs/${hash.slice(0, 2)}/${hash}`,
    probes: `${root}probes/`,
  }
}

/** FNV-1a, as 8 hex digits: it spreads ids that begin alike, as those made at one time do. */
function hashOf(id: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}
