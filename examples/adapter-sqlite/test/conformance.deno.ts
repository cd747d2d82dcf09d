import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { createSqliteStorage } from "../src/index.ts"
import subject from "../subject.ts"

const { capabilities } = createSqliteStorage("")
register(Deno.test, subject, { skip: { with: Deno.test.ignore, capabilities } })
registerProperties(Deno.test, subject, { runs: 20 })
