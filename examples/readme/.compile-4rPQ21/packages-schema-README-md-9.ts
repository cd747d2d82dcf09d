import { entrySchema, jsonSchemas, messageSchema } from "@sessions/schema"

console.log(messageSchema.safeParse({ role: "user", content: [{ type: "text", text: "hello" }] }).success) // true
console.log(messageSchema.safeParse({ role: "user", content: 7 }).success) // false
console.log(entrySchema.safeParse({ type: "message" }).success) // false
console.log(Object.keys(jsonSchemas()).includes("entry.json")) // true
export {}
