/**
 * A tombstone replaces a deleted tail, document or blob, so that a late conditional write fails. Garbage collection removes it after
 * `keepTombstones`. It contains a random
 * token that gives each tombstone an ETag of its own. It is exactly 64 bytes, a size that no other object has, so that a listing
 * shows what is deleted.
 */
const TOMBSTONE_SIZE = 64
const TOMBSTONE = /^\{"@sessions\/s3":"([0-9a-z]{12})-([0-9a-z]{12})-([0-9a-z]{12})"\} *$/

const encoder = new TextEncoder()

export interface Tombstone {
  /** Generation of the session created here next. */
  readonly generation: string
  /** Unique to this tombstone. */
  readonly token: string
  /** Token of the write that created the deleted object: its writer, whose answer was lost, finds it here. */
  readonly createdBy: string
}

export function createTombstone({ generation, token, createdBy }: Tombstone): Uint8Array {
  return encoder.encode(`{"@sessions/s3":"${generation}-${token}-${createdBy}"}`.padEnd(TOMBSTONE_SIZE))
}

export function isTombstone(size: number): boolean {
  return size === TOMBSTONE_SIZE
}

/** Undefined if this package did not write it. */
export function parseTombstone(bytes: Uint8Array): Tombstone | undefined {
  const [, generation, token, createdBy] = TOMBSTONE.exec(new TextDecoder().decode(bytes)) ?? []
  if (generation === undefined || token === undefined || createdBy === undefined) return undefined
  return { generation, token, createdBy }
}
