import { prefixLaw } from "../../test/prefix-law.ts"
import { reusedLaw } from "../../test/reused-law.ts"

prefixLaw(300, 60)
reusedLaw(2_000)
