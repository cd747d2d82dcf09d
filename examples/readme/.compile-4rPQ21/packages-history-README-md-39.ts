import { createIndexedDbHistory } from "@sessions/history/indexeddb"

const history = createIndexedDbHistory()
history.add("hello") // returns at once; stored after the current tick
console.log(await history.recent())
export {}
