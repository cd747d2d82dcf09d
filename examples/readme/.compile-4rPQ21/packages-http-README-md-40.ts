import { createSessions } from "@sessions/core"
import { connectHttpStorage } from "@sessions/http/client"

const storage = await connectHttpStorage({
  url: "https://example.com/storage",
  headers: { authorization: "Bearer 7f3c9a" },
})
const sessions = createSessions({ storage })
export {}
