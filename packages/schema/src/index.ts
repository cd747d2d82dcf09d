/**
 * Schemas of every record of a session log, for programs that get records from elsewhere. They accept what the guards of
 * `@sessions/core` accept, which are faster and say what is wrong in a sentence.
 */
export { blockSchema, messageSchema } from "./content.ts"
export { entrySchema, entrySchemas, type EntrySchemas } from "./entries.ts"
export { headerSchema } from "./header.ts"
export { sessionInfoSchema } from "./info.ts"
export { jsonSchemas } from "./json-schema.ts"
