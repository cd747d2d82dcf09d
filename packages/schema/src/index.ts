/**
 * zod schemas and JSON Schemas of every record of a session log, for programs that receive records from elsewhere. They accept the
 * same records as the checks of `@sessions/core`, which are faster and describe the first problem in a sentence.
 */
import type { ContentBlock, Entry, EntryType, Header, KnownEntry, Message, SessionInfo } from "@sessions/core"
import type * as z from "zod"
import { block, message } from "./content.ts"
import { entries, entry } from "./entries.ts"
import { header } from "./header.ts"
import { sessionInfo } from "./info.ts"

export { jsonSchemas } from "./json-schema.ts"

/** The header: line 0 of a log of version 4. */
export const headerSchema: z.ZodType<Header> = header

/** An entry: every line of a log but the first. Entries of unknown types pass. */
export const entrySchema: z.ZodType<Entry> = entry

/** One schema for each known type of entry. */
export type EntrySchemas = { readonly [T in EntryType]: z.ZodType<Extract<KnownEntry, { readonly type: T }>> }
export const entrySchemas: EntrySchemas = entries

/** A message. Messages of other roles pass, with or without content. */
export const messageSchema: z.ZodType<Message> = message

/** A content block. Blocks of unknown types pass. */
export const blockSchema: z.ZodType<ContentBlock> = block

/** Session information: a row of a list. */
export const sessionInfoSchema: z.ZodType<SessionInfo> = sessionInfo
