import { createSessionClient } from "@sessions/http/client"

const client = createSessionClient({ url: "https://example.com", headers: { authorization: "Bearer 7f3c9a" } })

const { id } = await client.create({ title: "Repair the build" })
const { cursor } = await client.load(id)
const { messageId } = await client.prompt(id, { text: "Why does it fail?" })
for await (const { event, data } of client.events(id, { after: cursor })) {
  if (event === "appended") console.log(JSON.stringify(data.entries))
  if (event === "turn_end" && data.messageId === messageId) break
}
export {}
