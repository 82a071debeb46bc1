"""The functions of jq (1.5 to 1.8) and of mikefarah's yq 4, without those that reach beyond."""

from __future__ import annotations

from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS: Final = _names(
    """and or not if then elif else end as def reduce foreach try catch label break __loc__ true
    false null"""
)
FUNCTIONS: Final = _names(
    """
    GROUP_BY IN INDEX JOIN UNIQUE_BY abs acos acosh add all any arrays ascii ascii_downcase
    ascii_upcase asin asinh atan atan2 atanh booleans bsearch builtins capture cbrt ceil
    combinations contains copysign cos cosh date dateadd datesub debug del delpaths drem empty
    endswith erf erfc error exp exp10 exp2 explode expm1 fabs fdim finites first flatten floor
    fma fmax fmin fmod format frexp from_entries fromdate fromdateiso8601 fromjson fromstream
    gamma get_jq_origin get_prog_origin get_search_list getpath gmtime group_by gsub halt
    halt_error has have_decnum have_literal_numbers hypot implode in index indices infinite
    input input_filename input_line_number inputs inside isempty isfinite isinfinite isnan
    isnormal isvalid iterables j0 j1 jn join keys keys_unsorted last ldexp leaf_paths length
    lgamma lgamma_r limit localtime log log10 log1p log2 logb ltrim ltrimstr map map_values
    match max max_by min min_by mktime modf nan nearbyint nextafter nexttoward normals not now
    nth nulls numbers objects path paths pick pow pow10 range recurse recurse_down remainder
    repeat reverse rindex rint round rtrim rtrimstr scalars scalars_or_empty scalb scalbln scan
    select setpath significand sin sinh skip sort sort_by split splits sqrt startswith stderr
    strflocaltime strftime strings strptime sub tan tanh test tgamma to_entries toarray
    toboolean todate todateiso8601 tojson tonumber tostream tostring transpose trim trimstr
    trunc truncate_stream type unique unique_by until utf8bytelength values walk while
    with_entries y0 y1 yn
    """
)
YQ: Final = _names(
    """
    alias all_c anchor any_c array_to_map collect column comment_merge contains decode di
    documentIndex document_index downcase ea encode error eval_all explode fi fileIndex filename
    filter find flatten footComment foot_comment format_datetime from_csv from_json from_props
    from_tsv from_unix from_xml from_yaml fromcsv fromprops fromtsv fromxml fromyaml has
    headComment head_comment ireduce is_key keys kind line lineComment lineNumber line_comment
    omit parent parents parse pivot root shuffle sortKeys sort_keys splitDoc split_doc style tag
    to_csv to_json to_number to_props to_string to_tsv to_unix to_xml to_yaml tocsv toprops
    totsv toxml toyaml tz union unwrap upcase with with_dtf
    """
)
