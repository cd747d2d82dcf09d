/** The session of a transcript: its id, its kind, and the key in its metadata. */
import { SessionError } from "@sessions/core"
import { sha256Hex } from "@sessions/core/storage"
import type { SessionKey } from "./types.ts"

export const KIND = "claude-agent"

/** Ids are `claude.PROJECT.SESSION`, and `claude.PROJECT.SESSION.SUBPATH` for a subagent. Project and subpath may be of any length and any characters. */
export async function sessionIdOf({ projectKey, sessionId, subpath }: SessionKey): Promise<string> {
  const session = UUID.test(sessionId) ? sessionId : `x${await shortHash(sessionId)}`
  const main = `${await projectPrefixOf(projectKey)}${session}`
  return subpath === undefined ? main : `${main}.${await shortHash(subpath)}`
}

/** What the ids of all transcripts of a project begin with. */
export async function projectPrefixOf(projectKey: string): Promise<string> {
  return `claude.${await shortHash(projectKey)}.`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** 64 bits. Two keys with one id are told apart by {@link isKeyOf}. */
async function shortHash(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, 16)
}

export function metadataOf({ projectKey, sessionId, subpath }: SessionKey): Readonly<Record<string, string>> {
  return { projectKey, sessionId, ...(subpath === undefined ? {} : { subpath }) }
}

export function isKeyOf(metadata: Readonly<Record<string, unknown>>, key: SessionKey): boolean {
  const { projectKey, sessionId, subpath } = metadata
  return projectKey === key.projectKey && sessionId === key.sessionId && subpath === key.subpath
}

/** The SDK's key is checked because an error in it would show as an empty session. */
export function checkKey(key: SessionKey): void {
  const { projectKey, sessionId, subpath } = key
  if (typeof projectKey !== "string" || typeof sessionId !== "string")
    throw new SessionError("invalid", "A key needs projectKey and sessionId, both texts.")
  if (subpath !== undefined && (typeof subpath !== "string" || subpath === ""))
    throw new SessionError(
      "invalid",
      "The subpath of a key is a text that is not empty; leave it out for the main transcript.",
    )
}
