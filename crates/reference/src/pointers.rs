//! Random Promela programs with pointers, named by a seed.

/// A random program: two or three processes that make, link, share and delete nodes; with `repeating`, some of them for ever.
/// Such a program has labels `middle` and deletes nothing.
pub fn program(seed: u64, repeating: bool) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    let mut out = String::from(
        "typedef Node { byte key; bit locked; Node &next }\nNode &g, &h;\nbyte count;\n\
         chan c = [1] of { byte };\nchan r = [0] of { byte };\n",
    );
    for process in 0..2 {
        out += &format!("proctype P{process}() {{ Node &x, &y; byte i;\n");
        let (mut open, forever) = (0, repeating && below(3) > 0);
        if forever {
            out += "again:\n";
        }
        let length = if repeating { 2 + below(4) } else { 3 + below(6) };
        for number in 0..length {
            if repeating && number == 1 {
                out += "middle:\n";
            }
            let pointer = ["x", "y", "x", "y", "g", "h"][below(6)];
            let other = ["x", "y", "g", "h"][below(4)];
            let statement = match below(17) {
                0..=2 => format!("&{pointer} = new Node"),
                3 | 4 => format!("&{pointer} = &{other}"),
                5 => format!("if :: &{pointer} != null -> &{pointer}.next = &{other} :: else -> skip fi"),
                6 => format!("if :: &{pointer} != null -> &{other} = &{pointer}.next :: else -> skip fi"),
                7 | 8 => format!(
                    "if :: &{pointer} != null -> {pointer}.key = ({pointer}.key + 1) % 3 :: else -> skip fi"
                ),
                9 => format!("atomic {{ &{pointer} != null && !{pointer}.locked -> {pointer}.locked = 1 }}"),
                10 => format!("if :: &{pointer} != null -> {pointer}.locked = 0 :: else -> skip fi"),
                11 => "count = (count + 1) % 3".to_owned(),
                12 => "assert(count < 2)".to_owned(),
                13 => format!("if :: &x != null -> assert(x.key != {}) :: else -> skip fi", below(3)),
                14 => ["c!1", "c?i", "r!1", "r?i"][below(4)].to_owned(),
                15 => format!("d_step {{ &{pointer} = new Node; {pointer}.key = {} }}", below(3)),
                _ if !repeating && below(3) == 0 => format!(
                    "if :: &{pointer} != null -> delete(&{pointer}); &{pointer} = null :: else -> skip fi"
                ),
                _ => "skip".to_owned(),
            };
            if below(8) == 0 && open == 0 && !(repeating && number == 1) {
                out += "  atomic {\n";
                open = 2;
            }
            out += &format!("  {statement};\n");
            if open > 0 {
                open -= 1;
                if open == 0 {
                    out += "  skip };\n";
                }
            }
        }
        if open > 0 {
            out += "  skip };\n";
        }
        out += if forever { "  goto again\n}\n" } else { "  skip\n}\n" };
    }
    let runs = ["run P0(); run P1()", "run P0(); run P0()", "run P0(); run P1(); run P1()"][below(3)];
    out += &format!("init {{ &g = new Node; atomic {{ {runs} }} }}\n");
    out
}
