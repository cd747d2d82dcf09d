import { forgottenDeletions } from "./designs.ts"
import { violationTest } from "./violation.ts"

violationTest(forgottenDeletions, /came back after it had ended|is in the logs twice/)
