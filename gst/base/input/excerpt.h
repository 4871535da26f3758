// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes texts from files, properties and metas fit to be shown in messages to the user.
#pragma once

#include <string>
#include <string_view>

namespace cudavision {

// The excerpt that a message shows of a text from a file, a property or a meta: printable UTF-8 of at most
// kMostExcerptBytes. The bytes of control characters, of invisible characters such as those that reverse the
// direction of writing, and of invalid UTF-8 become \x and two digits. Of a longer text, the middle is replaced
// by an ellipsis, because a path says most at its end.
std::string excerpt(std::string_view text);
// The excerpt in quotation marks.
std::string quoted_excerpt(std::string_view text);

constexpr std::size_t kMostExcerptBytes = 200;

}  // namespace cudavision
