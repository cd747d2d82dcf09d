import type { ContentBlock, Entry, EntryType, Header, KnownEntry, Message, SessionInfo } from "@sessions/core"
import { expectTypeOf } from "expect-type"
import { test } from "vitest"
import type * as z from "zod"
import type { blockSchema, EntrySchemas, entrySchema, headerSchema, messageSchema, sessionInfoSchema } from "./index.ts"

test("what a schema gives is the type of core", () => {
  expectTypeOf<z.infer<typeof headerSchema>>().toEqualTypeOf<Header>()
  expectTypeOf<z.infer<typeof entrySchema>>().toEqualTypeOf<Entry>()
  expectTypeOf<z.infer<typeof messageSchema>>().toEqualTypeOf<Message>()
  expectTypeOf<z.infer<typeof blockSchema>>().toEqualTypeOf<ContentBlock>()
  expectTypeOf<z.infer<typeof sessionInfoSchema>>().toEqualTypeOf<SessionInfo>()
})

test("every type of entry that core knows has a schema", () => {
  expectTypeOf<keyof EntrySchemas>().toEqualTypeOf<EntryType>()
  expectTypeOf<z.infer<EntrySchemas[EntryType]>>().toEqualTypeOf<KnownEntry>()
  expectTypeOf<z.infer<EntrySchemas["label"]>["label"]>().toEqualTypeOf<string | undefined>()
})
