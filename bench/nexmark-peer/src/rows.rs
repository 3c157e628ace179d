// SPDX-License-Identifier: Apache-2.0
//! A result's row as the text that is compared: cells in the view's order with a bar between, times in milliseconds, numbers with a fraction in thousandths rounded down.

use std::fmt::Write;

pub trait Line {
    fn line(&self, text: &mut String);
}

impl Line for i64 {
    fn line(&self, text: &mut String) {
        write!(text, "{self}").expect("text grows");
    }
}

impl Line for String {
    fn line(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl<L: Line, const N: usize> Line for [L; N] {
    fn line(&self, text: &mut String) {
        self.iter().enumerate().for_each(|(n, cell)| next(n, cell, text));
    }
}

fn next<L: Line + ?Sized>(n: usize, cell: &L, text: &mut String) {
    if n > 0 {
        text.push('|');
    }
    cell.line(text);
}

macro_rules! row {
    ($($cell:ident $n:tt),*) => {
        impl<$($cell: Line),*> Line for ($($cell,)*) {
            fn line(&self, text: &mut String) {
                $(next($n, &self.$n, text);)*
            }
        }
    };
    ($tuple:ident $($cell:ident $n:tt),*) => {
        #[cfg(feature = "circuit")]
        impl<$($cell: Line),*> Line for dbsp::utils::$tuple<$($cell),*> {
            fn line(&self, text: &mut String) {
                $(next($n, &self.$n, text);)*
            }
        }
    };
}

row!(A 0, B 1);
row!(A 0, B 1, C 2);
row!(A 0, B 1, C 2, D 3);
row!(A 0, B 1, C 2, D 3, E 4);
row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
row!(Tup2 A 0, B 1);
row!(Tup3 A 0, B 1, C 2);
row!(Tup4 A 0, B 1, C 2, D 3);
row!(Tup5 A 0, B 1, C 2, D 3, E 4);
row!(Tup7 A 0, B 1, C 2, D 3, E 4, F 5, G 6);
row!(Tup8 A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
row!(Tup9 A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
