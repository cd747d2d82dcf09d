import { prefixLaw } from "../../test/prefix-law.ts"

prefixLaw(12, 25)
