/**
 * The schemas of this package once more, on superstruct: a few kilobytes, for pages that check records from elsewhere. They accept what
 * the zod schemas accept. Checking a message takes about as long as parsing it twenty times, so no one should do it for every line of a
 * log; the guards of `@sessions/core` do that.
 */
export { blockStruct, messageStruct } from "./content.ts"
export type { Check } from "./common.ts"
export { entryStruct } from "./entries.ts"
export { headerStruct } from "./header.ts"
export { sessionInfoStruct } from "./info.ts"
