/** The session of a transcript: its id, its kind, and the key in its metadata. */
import { SessionError } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { sha256Hex } from "@sessions/core/storage"
import type { SessionKey } from "./types.ts"

export const KIND = "claude-agent"

/** Ids are `claude.PROJECT.SESSION`, and `claude.PROJECT.SESSION.SUBPATH` for a subagent. Project and subpath may be of any length and any characters. */
export async function sessionIdOf({ projectKey, sessionId, subpath }: SessionKey): Promise<string> {
  const session = UUID.test(sessionId) ? sessionId : `x${await shortHash(sessionId)}`
  const main = `${await projectPrefixOf(projectKey)}${session}`
  return subpath === undefined ? main : `${main}.${await shortHash(subpath)}`
}

/**
 * A transcript that has outgrown one session goes on in further ones, of which the first is part 2. Their ids end with the transcript's own
 * (see {@link TRANSCRIPT}): a part that a crash or a late append leaves of a deleted transcript is never taken for one of the next.
 */
export function partIdOf(id: string, part: number, transcript: string | undefined): string {
  if (part === 1) return id
  return `${id}${PART_SUFFIX}${part}${transcript === undefined ? "" : `.${transcript}`}`
}

/** The metadata key of the id that a transcript gets when it begins. */
export const TRANSCRIPT = "transcript"

/** Undefined for a transcript that has none: it began before they were given. */
export function transcriptOf({ [TRANSCRIPT]: transcript }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof transcript === "string" ? transcript : undefined
}

/** A new value for {@link TRANSCRIPT}. */
export const newTranscriptId: () => string = createIds()

/** The text between the id of a transcript and the number of a further part: no hash of a subpath begins with it. */
export const PART_SUFFIX = ".part"

/** The beginning of the ids of all transcripts of a project. */
export async function projectPrefixOf(projectKey: string): Promise<string> {
  return `claude.${await shortHash(projectKey)}.`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** 64 bits. Two keys with one id are told apart by {@link isKeyOf}. */
async function shortHash(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, 16)
}

export function metadataOf(
  { projectKey, sessionId, subpath }: SessionKey,
  part: number,
  transcript: string | undefined,
): Readonly<Record<string, string | number>> {
  return {
    projectKey,
    sessionId,
    ...(subpath === undefined ? {} : { subpath }),
    ...(part === 1 ? {} : { part }),
    ...(transcript === undefined ? {} : { [TRANSCRIPT]: transcript }),
  }
}

/** Whether this is the metadata of a part of the transcript, by default of its first one. */
export function isKeyOf(metadata: Readonly<Record<string, unknown>>, key: SessionKey, part = 1): boolean {
  const { projectKey, sessionId, subpath } = metadata
  if (partOf(metadata) !== part) return false
  return projectKey === key.projectKey && sessionId === key.sessionId && subpath === key.subpath
}

/** The number of the part whose metadata this is. */
export function partOf({ part }: Readonly<Record<string, unknown>>): unknown {
  return part ?? 1
}

/** The SDK's key is checked because an error in it would show as an empty session. */
export function checkKey(key: SessionKey): void {
  const { projectKey, sessionId, subpath } = (key ?? {}) as Partial<SessionKey>
  if (typeof projectKey !== "string" || typeof sessionId !== "string")
    throw new SessionError("invalid", "A key needs projectKey and sessionId, both texts.")
  if (subpath !== undefined && (typeof subpath !== "string" || subpath === ""))
    throw new SessionError(
      "invalid",
      "The subpath of a key is a text that is not empty; leave it out for the main transcript.",
    )
}
